"""The tables of a judge on degraded copies (`judge_r1.benchmarks.cofluence`)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

ORIGINAL = "original"
AT = "@"
"""Between a manipulation and its intensity."""
MISSING = "missing_score"
MARGIN = 0.25
"""The margin of equivalence in points: half of the smallest step of the scale."""
Share = Annotated[float, Field(ge=0, le=1)]
Interval = Annotated[list[float], Field(min_length=2, max_length=2)]


class Test(BaseModel):
    """The tests of differences (`statistics.paired`): None below two of them."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    n: int = Field(ge=0)
    sd: float | None
    t: float | None
    df: int | None
    ci95: Interval | None
    p: Share | None
    p_less: Share | None
    p_wilcoxon: Share | None
    p_sign: Share | None


class MeanTest(Test):
    mean: float | None


class TaskRow(MeanTest):
    """A manipulation at one length. `leakage` is Δ on the other metrics."""

    manipulation: str
    length: str
    metric: str
    missing: int
    detection: Share | None
    detection_ci95: Interval | None
    leakage: dict[str, MeanTest]
    p_holm: Share | None = None


class LengthRow(Test):
    """The effect of length on a manipulation."""

    manipulation: str
    short: str
    loss_of_detection: float
    p_equivalent: Share
    margin: float
    p_holm: Share | None = None
    p_equivalent_holm: Share | None = None


class ScoreRow(BaseModel):
    """The scores of the originals, or of one kind of copy, on a metric: their mean and its t-interval."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    text: str
    length: str
    metric: str
    n: int = Field(ge=1)
    mean: float
    ci95: Interval | None


class Deltas(BaseModel):
    """The tables of one judge, and the counts of scores that are missing."""

    tasks: list[TaskRow]
    lengths: list[LengthRow]
    scores: list[ScoreRow] = []
    texts: int
    without_scores: int
    partly_scored: int
