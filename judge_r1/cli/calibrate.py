"""calibrate: calibrate a judge's confidences and find a threshold for abstaining."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from judge_r1.cli.old_flags import old_flags
from judge_r1.core.errors import JudgeError

if TYPE_CHECKING:
    from judge_r1.evaluation.calibrate import Calibration, ConfidenceRow


def register(app: typer.Typer) -> None:
    flags = old_flags(row="judge-name", by="confidence-method")
    app.command(context_settings=flags)(calibrate)


def calibrate(
    answers: Annotated[
        Path,
        typer.Argument(help='An evaluation, or JSON Lines of {"confidence": …, "correct": …, "cluster": …}.'),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    judge_name: Annotated[
        str | None, typer.Option(help="The judge of the evaluation; needed if there are several.")
    ] = None,
    confidence_method: Annotated[
        str, typer.Option(help="Confidence by the deciding token, or by agreement: token, orders or samples.")
    ] = "token",
    alpha: Annotated[
        float | None, typer.Option(help="Abstain so that at most this share of the answers is wrong.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Probability that the error rate exceeds --alpha.")] = 0.1,
    seed: Annotated[int, typer.Option(help="Seed of folds and intervals.")] = 0,
) -> None:
    """Fit calibration maps on answers with known gold labels. Writes OUT/calibration.json and reliability.svg.

    Each line of a JSON Lines file is one answer: its confidence in [0, 1] (null if it has none or is invalid), whether
    it is correct, and its cluster (the case). The command reports ECE and Brier score before and after calibration, by
    cross-fitting over clusters. With --alpha it also finds the confidence above which the judge should answer.

    Example: `judge-r1 calibrate runs/demo/eval --judge-name warm-up --alpha 0.1 --delta 0.1 --out runs/calibration`
    """
    from judge_r1.core.jsonl import write_atomic, write_json
    from judge_r1.evaluation.calibrate import calibrate as fit
    from judge_r1.evaluation.calibrate import read_confidences
    from judge_r1.evaluation.report.charts import reliability_diagram

    for option, value in (("--alpha", alpha), ("--delta", delta)):
        if value is not None and not 0 < value < 1:
            raise JudgeError(f"{option} must be between 0 and 1, not {value:g}")
    given = _of_evaluation(answers, judge_name, confidence_method) if answers.is_dir() else read_confidences(answers)
    found = fit(given, None if alpha is None else (alpha, delta), seed)
    tables = {
        "before": found.before.table,
        "temperature": found.with_temperature.table,
        "isotonic": found.with_isotonic.table,
    }
    write_json(out / "calibration.json", found.model_dump(mode="json", by_alias=True))
    write_atomic(out / "reliability.svg", [reliability_diagram(tables)])
    _print(found, Console())


def _of_evaluation(folder: Path, row: str | None, by: str) -> "Sequence[ConfidenceRow]":
    """Raises JudgeError if the judge is not there or has no confidence by this method."""
    from judge_r1.evaluation.confidence_methods import METHODS, confidence_rows
    from judge_r1.evaluation.results import read_outcomes

    rows = read_outcomes(folder)
    if row is None and len(rows) > 1:
        raise JudgeError(f"{folder} holds {len(rows)} judges: choose one with --judge-name ({', '.join(rows)})")
    name = row if row is not None else next(iter(rows))
    if name not in rows:
        raise JudgeError(f"{folder} holds no judge {name!r}; there is: {', '.join(rows)}")
    if by not in METHODS:
        raise JudgeError(f"--confidence-method is {', '.join(METHODS)}, not {by!r}")
    found = confidence_rows(rows[name], by)
    if all(answer.confidence is None for answer in found):
        raise JudgeError(
            f"{folder}: judge {name!r} has no confidence by {by}: try {' or '.join(m for m in METHODS if m != by)}"
        )
    return found


def _print(found: "Calibration", console: Console) -> None:
    from judge_r1.evaluation.report.tables import Grid, print_grid

    rows = tuple(
        (name, f"{q.ece:.3f}", f"{q.ece_width:.3f}", f"{q.brier:.3f} [{q.brier_ci95[0]:.3f}, {q.brier_ci95[1]:.3f}]")
        for name, q in (
            ("before", found.before),
            (f"temperature {found.temperature.temperature:.2f}", found.with_temperature),
            ("isotonic", found.with_isotonic),
        )
    )
    note = (
        f"{found.n} answers of {found.clusters} cases, {found.accuracy:.1%} right; {found.without_confidence} without "
        "a confidence are left out here. Maps are scored on cases they were not fitted on; Brier: 95 % interval."
    )
    columns = ("confidences", "ECE, equal mass", "ECE, equal width", "Brier")
    print_grid(Grid("Calibration", note, columns, rows), console)
    notes = []
    if found.temperature.at_bound:
        notes.append("The temperature is at the end of the searched range: these confidences do not determine one.")
    if selective := found.selective:
        notes.append(selective.guarantee)
    if selective and selective.threshold is not None:
        notes.append(
            f"Of {selective.tested} test cases {selective.answered} are answered ({selective.coverage:.1%}), "
            f"{selective.errors} of them wrong."
        )
    for line in notes:
        console.print(line, soft_wrap=True, highlight=False)
