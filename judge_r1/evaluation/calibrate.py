"""Calibrates the confidences of a judge and certifies the threshold below which it abstains.

The confidence in the verdict on an item has three methods (`judge-r1 calibrate`):

token     mean probability of the verdict over the votes, from the decision token: c for a vote with the same verdict,
          1 - c for a vote for the other candidate (`judge_r1.episode.confidence`)
orders    agreement of the two orders: each order votes by its majority, and the confidence is the share of votes for
          the verdict (with JudgeBench's two votes 1 if they agree, else 1/2)
samples   agreement of samples or members: the share of votes for the verdict

A tie or an invalid vote counts half for either side, and the confidence in a tie is 1/2. The confidence is None for an
invalid verdict, for an item that is not a pair, and if there is nothing to compare: no known probabilities (token), one
order (orders), one vote per order (samples).
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, Literal

from pydantic import Field

from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult, Vote
from judge_r1.core.record_base import NonEmpty, Record
from judge_r1.core.text_check import counted
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.evaluation.inspect_logs import SUFFIX, Notes, one_scorer
from judge_r1.evaluation.report.standalone import reliability_diagram
from judge_r1.evaluation.results import read_outcomes
from judge_r1.files.jsonl import read_jsonl, write_atomic, write_json
from judge_r1.statistics.calibration import (
    Bin,
    Fit,
    Isotonic,
    Temperature,
    brier,
    cross_fitted,
    expected_calibration_error,
    fit_isotonic,
    fit_temperature,
    reliability,
    squared_errors,
)
from judge_r1.statistics.intervals import clustered_mean_ci
from judge_r1.statistics.selective_risk import Selective, select

FOLDS = 5


Method = Literal["token", "orders", "samples"]
METHODS: tuple[Method, ...] = ("token", "orders", "samples")


class ConfidenceRow(Record):
    """One answer of a judge: its confidence, whether it was right, and its cluster (case). The confidence is null if
    there is none, for example for an invalid answer."""

    schema_: Literal[1] = Field(1, alias="schema")
    confidence: float | None = Field(ge=0, le=1, allow_inf_nan=False)
    correct: Annotated[bool, Field(strict=True)]
    cluster: NonEmpty


def confidence(outcome: ItemResult, method: Method) -> float | None:
    """The confidence in [0, 1], or None; below 1/2 if most of the evidence is against the verdict."""
    if not isinstance(outcome.verdict, PairwiseVerdict) or any(set(vote.order) != {0, 1} for vote in outcome.votes):
        return None
    side = {"A": 0, "B": 1, "tie": None}[outcome.verdict.winner]
    if method == "token":
        probabilities = [p for vote in outcome.votes if (p := _probability(vote, side)) is not None]
        return fmean(probabilities) if probabilities else None
    orders: dict[tuple[int, ...], list[float]] = {}
    for vote in outcome.votes:
        orders.setdefault(vote.order, []).append(_vote(vote.winner, side))
    if method == "orders":
        return fmean([_majority(votes) for votes in orders.values()]) if len(orders) == 2 else None
    if max(map(len, orders.values())) < 2:
        return None
    return fmean([vote for votes in orders.values() for vote in votes])


def confidence_rows(outcomes: Iterable[ItemResult], method: Method) -> list[ConfidenceRow]:
    """One row per item for `judge-r1 calibrate`; the confidence may be None."""
    return [
        ConfidenceRow(schema=1, confidence=confidence(o, method), correct=o.score == 1, cluster=o.cluster_id)
        for o in outcomes
    ]


def evaluation_confidences(folder: Path, judge: str | None, method: Method) -> list[ConfidenceRow]:
    """The confidences of one judge of the evaluation in `folder`; `judge` may be None if it is the only one.

    Raises:
        JudgeError: The judge is unknown or has no confidence by this method, none of several judges is chosen, or
            outcomes.jsonl does not belong to summary.json.
    """
    outcomes = read_outcomes(folder)
    if judge is None and len(outcomes) > 1:
        raise JudgeError(f"{folder} holds {len(outcomes)} judges: choose one with --judge-name ({', '.join(outcomes)})")
    name = next(iter(outcomes)) if judge is None else judge
    if name not in outcomes:
        raise JudgeError(f"{folder} holds no judge {name!r}; available: {', '.join(outcomes)}")
    rows = confidence_rows(outcomes[name], method)
    if all(row.confidence is None for row in rows):
        others = " or ".join(known for known in METHODS if known != method)
        raise JudgeError(f"{folder}: judge {name!r} has no confidence by {method}: try {others}")
    return rows


def _probability(vote: Vote, side: int | None) -> float | None:
    """The probability of the verdict's side according to one vote; None if unknown."""
    if vote.confidence is None or vote.winner is None:
        return None
    if side is None:
        return 0.5
    return vote.confidence if vote.winner == side else 1 - vote.confidence


def _vote(winner: int | None, side: int | None) -> float:
    return 0.5 if winner is None or side is None else float(winner == side)


def _majority(votes: Sequence[float]) -> float:
    mean = fmean(votes)
    return 0.5 if mean == 0.5 else float(mean > 0.5)


class Quality(Record):
    """ECE by bins of equal mass and of equal width, the Brier score with its 95 % interval over clusters, and the
    reliability table (equal mass)."""

    ece: float
    ece_width: float
    brier: float
    brier_ci95: tuple[float, float]
    table: tuple[Bin, ...]


class Calibration(Record):
    """The content of calibration.json.

    `accuracy` covers all `n` answers. `before`, `with_temperature` and `with_isotonic` cover those with a confidence.
    The two maps are fitted on all of them and scored by cross-fitting: each answer by a map that was not fitted on its
    cluster. `selective` uses one answer per cluster and the original confidences. `notes` say what a log
    has that is left out.
    """

    schema_: Literal[1] = Field(1, alias="schema")
    n: int
    without_confidence: int
    clusters: int
    accuracy: float
    seed: int
    before: Quality
    temperature: Temperature
    with_temperature: Quality
    isotonic: Isotonic
    with_isotonic: Quality
    selective: Selective | None
    notes: tuple[str, ...] = ()


def read_confidences(path: Path, scorer: str | None = None, notes: Notes | None = None) -> list[ConfidenceRow]:
    """Reads the answers of a JSON Lines file, or the scores of a log of Inspect: a score of 1 is correct, and its
    metadata hold the `confidence`.

    Raises:
        BadLog: The log cannot be read.
        JudgeError: No answer has a confidence.
    """
    if path.suffix == SUFFIX:
        rows = [
            ConfidenceRow(schema=1, confidence=score.confidence, correct=score.value == 1, cluster=score.cluster)
            for score in one_scorer(path, scorer, notes)
        ]
    else:
        rows = list(read_jsonl(path, ConfidenceRow))
    if all(row.confidence is None for row in rows):
        rows_read = counted(len(rows), "score" if path.suffix == SUFFIX else "line")
        raise JudgeError(f"{path} has no answer with a confidence in its {rows_read}: nothing can be calibrated")
    return rows


def write_calibration(out: Path, calibration: Calibration) -> None:
    """Writes `out`/calibration.json and `out`/reliability.svg."""
    tables = {
        "before": calibration.before.table,
        "temperature": calibration.with_temperature.table,
        "isotonic": calibration.with_isotonic.table,
    }
    write_json(out / "calibration.json", calibration.model_dump(mode="json", by_alias=True))
    write_atomic(out / "reliability.svg", [reliability_diagram(tables)])


def calibrate(rows: Sequence[ConfidenceRow], certify: tuple[float, float] | None = None, seed: int = 0) -> Calibration:
    """Calibrates; `certify` is (α, δ) of the selective judge. Equal rows and seed give equal results."""
    known = [row for row in rows if row.confidence is not None]
    confidences = [row.confidence for row in known if row.confidence is not None]
    correct, clusters = [row.correct for row in known], [row.cluster for row in known]

    def quality(mapped: Sequence[float]) -> Quality:
        return Quality(
            ece=expected_calibration_error(mapped, correct),
            ece_width=expected_calibration_error(mapped, correct, "width"),
            brier=brier(mapped, correct),
            brier_ci95=clustered_mean_ci(squared_errors(mapped, correct), clusters, seed),
            table=tuple(reliability(mapped, correct)),
        )

    def unseen(fit: Fit) -> Quality:
        return quality(cross_fitted(fit, confidences, correct, clusters, FOLDS, seed))

    selective = None
    if certify is not None:
        every = zip(*((row.confidence, row.correct, row.cluster) for row in rows), strict=True)
        selective = select(*every, alpha=certify[0], delta=certify[1], seed=seed)
    return Calibration(
        n=len(rows),
        without_confidence=len(rows) - len(known),
        clusters=len({row.cluster for row in rows}),
        accuracy=sum(row.correct for row in rows) / len(rows),
        seed=seed,
        before=quality(confidences),
        temperature=fit_temperature(confidences, correct),
        with_temperature=unseen(fit_temperature),
        isotonic=fit_isotonic(confidences, correct),
        with_isotonic=unseen(fit_isotonic),
        selective=selective,
    )
