"""calibrate: calibrate a judge's confidences and find a threshold for abstaining."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from judge_r1.cli.options import MAX_SEED, locks_out, refuse
from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted

if TYPE_CHECKING:
    from judge_r1.evaluation.calibrate import Calibration


def register(app: typer.Typer) -> None:
    app.command()(locks_out(calibrate))


def calibrate(
    answers: Annotated[
        Path,
        typer.Argument(
            help='An evaluation, JSON Lines of {"confidence": …, "correct": …, "cluster": …}, or a log of Inspect.'
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    judge_name: Annotated[
        str | None, typer.Option(help="The judge of the evaluation; needed if there are several.")
    ] = None,
    confidence_method: Annotated[
        Literal["token", "orders", "samples"] | None,
        typer.Option(
            help="Confidence by the deciding token, or by agreement of orders or of samples [default: token]."
        ),
    ] = None,
    scorer: Annotated[str | None, typer.Option(help="The scorer of the log; needed if there are several.")] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Abstain so that at most this share of the answers is wrong.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="Probability that the error rate exceeds --alpha [default: 0.1].")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of folds and intervals.")] = 0,
) -> None:
    """Fit calibration maps on answers with known gold labels. Writes OUT/calibration.json and reliability.svg.

    Each line of a JSON Lines file is one answer: its confidence in [0, 1] (null if it has none or is invalid), whether
    it is correct, and its cluster (the case). In a log of Inspect, the confidence is in the metadata of a score, and a
    score of 1 is correct. The command reports ECE and Brier score before and after calibration, by
    cross-fitting over clusters. With --alpha it also finds the confidence above which the judge should answer.

    Example: `judge-r1 calibrate runs/demo/eval --judge-name warm-up --alpha 0.1 --delta 0.1 --out runs/calibration`
    """
    from judge_r1.evaluation.calibrate import calibrate as fit
    from judge_r1.evaluation.calibrate import evaluation_confidences, read_confidences, write_calibration
    from judge_r1.evaluation.inspect_logs import Notes

    for option, value in (("--alpha", alpha), ("--delta", delta)):
        if value is not None and not 0 < value < 1:
            raise JudgeError(f"{option} must be between 0 and 1, not {value:g}")
    if alpha is None:
        refuse("goes with --alpha", delta=delta)
    if answers.suffix != ".eval":
        refuse(f"is for a log of Inspect (.eval), not for {answers}", scorer=scorer)
    if not answers.exists():
        raise JudgeError(f"{answers} does not exist: give a file of answers or the folder of an evaluation")
    notes = Notes()
    if answers.is_dir():
        rows = evaluation_confidences(answers, judge_name, confidence_method or "token")
    else:
        of_evaluation = {"judge_name": judge_name, "confidence_method": confidence_method}
        refuse(f"is for an evaluation, not for the file {answers}", **of_evaluation)
        rows = read_confidences(answers, scorer, notes)
    calibration = fit(rows, None if alpha is None else (alpha, 0.1 if delta is None else delta), seed)
    write_calibration(out, calibration.model_copy(update={"notes": tuple(notes)}))
    _print(calibration, Console())


def _print(calibration: "Calibration", console: Console) -> None:
    from judge_r1.evaluation.report.tables import Grid, few_clusters_note, print_grid

    rows = tuple(
        (name, f"{q.ece:.3f}", f"{q.ece_width:.3f}", f"{q.brier:.3f} [{q.brier_ci95[0]:.3f}, {q.brier_ci95[1]:.3f}]")
        for name, q in (
            ("before", calibration.before),
            (f"temperature {calibration.temperature.temperature:.2f}", calibration.with_temperature),
            ("isotonic", calibration.with_isotonic),
        )
    )
    note = (
        f"{counted(calibration.n, 'answer')} of {counted(calibration.clusters, 'case')}, {calibration.accuracy:.1%} "
        f"right; {calibration.without_confidence} without a confidence are left out here. Maps are scored on cases "
        f"they were not fitted on; Brier: 95 % interval.{few_clusters_note([{'cases': calibration.clusters}])}"
    )
    columns = ("confidences", "ECE, equal mass", "ECE, equal width", "Brier")
    print_grid(Grid("Calibration", note, columns, rows), console)
    notes = []
    if calibration.temperature.at_bound:
        notes.append("The temperature is at the end of the searched range: these confidences do not determine one.")
    if selective := calibration.selective:
        notes.append(selective.guarantee)
    if selective and selective.threshold is not None:
        notes.append(
            f"Of {counted(selective.tested, 'test case')} {selective.answered} are answered "
            f"({selective.coverage:.1%}), {selective.errors} of them wrong."
        )
    for line in notes:
        console.print(line, soft_wrap=True, highlight=False)
