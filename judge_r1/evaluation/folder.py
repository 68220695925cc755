"""Reads summary.json and rows.json of an evaluation folder. Every field that other modules use is checked."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from judge_r1.files.evaluation_files import ROWS, SUMMARY, check_summary, refuse_earlier_name
from judge_r1.files.strict_json import read_checked

REPORT = "report.html"
LRBENCH = "lrbench"
"""The benchmark of a summary without a benchmark name."""

Share = Annotated[float, Field(ge=0, le=1)]
Difference = Annotated[float, Field(ge=-1, le=1)]


class _Shape(BaseModel):
    """Fields that must be there; others are allowed."""

    model_config = ConfigDict(extra="allow")


class _Part(_Shape):
    n: int = Field(ge=1)
    cases: int = 1
    accuracy: Share
    ci95: Annotated[list[Share], Field(min_length=2, max_length=2)]
    label_f1: Share | None
    valid_rate: Share
    searches: float


class _PrinciplePart(_Part):
    single: _Part | None


Bounds = Annotated[list[float], Field(min_length=2, max_length=2)]


class _Test(_Shape):
    """A paired test; all None with one difference."""

    n: int = Field(ge=0)
    ci95: Bounds | None
    t: float | None
    df: int | None
    p: Share | None
    p_wilcoxon: Share | None


class _Leak(_Shape):
    mean: float


class _Task(_Test):
    manipulation: str
    length: str
    metric: str
    mean: float | None
    missing: int
    p_less: Share | None
    p_holm: Share | None
    detection: Share | None
    detection_ci95: Annotated[list[Share], Field(min_length=2, max_length=2)] | None
    leakage: dict[str, _Leak]


class _LengthTest(_Test):
    manipulation: str
    short: str
    loss_of_detection: float
    p_holm: Share | None
    p_equivalent: Share
    p_equivalent_holm: Share | None = None


class _Deltas(_Shape):
    """The measures of `judge_r1.benchmarks.cofluence.deltas`."""

    tasks: list[_Task]
    lengths: list[_LengthTest]
    texts: int
    without_scores: int
    partly_scored: int


class _System(_Shape):
    n: int = Field(ge=1)
    invalid: int = Field(ge=0)
    accuracy: Share | None
    ci95: Annotated[list[Share], Field(min_length=2, max_length=2)] | None


class _Row(_Part):
    name: str
    settings: dict[str, Any]
    by_domain: dict[str, _Part]
    by_principle: dict[str, _PrinciplePart]
    does_not_fit: Share | None = None
    accuracy_fitting: Share | None = None
    unanswered: int | None = None
    missing: int | None = None
    valid_vote_rate: Share | None = None
    valid_strict: Share | None = None
    valid_tolerant: Share | None = None
    ties: Share | None = None
    consistency: Share | None = None
    first_preferred: Share | None = None
    evidence_hit: Share | None = None
    ended: dict[str, int] = {}
    usage: dict[str, float] = {}
    replies: dict[str, dict[str, int]] = {}
    cut_prompts: int | None = None
    warnings: list[str] = []
    extra: dict[str, float | _Deltas | None] = {}
    tables: dict[str, dict[str, dict[str, float | None]]] = {}
    by_system: dict[str, _System] = {}


class _Delta(_Shape):
    delta: Difference
    ci95: Annotated[list[Difference], Field(min_length=2, max_length=2)]


class _Difference(_Delta):
    a: str
    b: str
    p_holm: Share = 1
    label_f1: _Delta | None = None
    by_principle: dict[str, _Delta] = {}


class _SharedPart(_Shape):
    n: int
    all_wrong: Share
    all_right: Share


class _Shared(_SharedPart):
    judges: list[str]
    by_domain: dict[str, _SharedPart]


class _Pinned(_Shape):
    __pydantic_extra__: dict[str, str | dict[str, str]]
    judges: dict[str, dict[str, str]]


class _Summary(_Shape):
    benchmark: str = LRBENCH
    subset: str | None = None
    rows: list[_Row]
    differences: list[_Difference]
    shared: _Shared | None = None
    seconds: dict[str, float]
    tables: dict[str, dict[str, dict[str, float | None]]] = {}
    pinned: _Pinned = _Pinned(judges={})
    rates_texts: bool = False
    notes: list[str] = []

    @model_validator(mode="after")
    def _rows_are_named(self) -> "_Summary":
        names = {row.name for row in self.rows}
        if len(names) < len(self.rows):
            raise ValueError("two rows have the same name")
        if unknown := {name for difference in self.differences for name in (difference.a, difference.b)} - names:
            raise ValueError(f"a difference names judge {min(unknown)!r}, which has no row")
        return self


class _Settings(_Shape):
    members: list[dict[str, Any]] = []
    orders: int | None = None
    samples: int = 1


class _Started(_Shape):
    judge: str
    settings: _Settings
    items: str


_SUMMARY_SHAPE: TypeAdapter[Any] = TypeAdapter(_Summary)
_ROWS_SHAPE: TypeAdapter[Any] = TypeAdapter(dict[str, _Started])


def read_summary(folder: Path) -> dict[str, Any]:
    """The content of summary.json, whose digest, and that of rows.json, is checked.

    Raises:
        JudgeError: The file cannot be read, is not a summary (the message names the field), or was changed.
    """
    summary: dict[str, Any] = read_checked(folder / SUMMARY, _SUMMARY_SHAPE)
    check_summary(folder, summary)
    return summary


def read_started(folder: Path) -> dict[str, dict[str, Any]]:
    """The content of rows.json: `judge`, `settings` and `items` of each panel. Empty if there is no such file.

    Raises:
        JudgeError: The file cannot be read or has another shape; the message names the field.
    """
    if not (folder / ROWS).exists():
        return {}
    refuse_earlier_name(folder)
    started: dict[str, dict[str, Any]] = read_checked(folder / ROWS, _ROWS_SHAPE)
    return started
