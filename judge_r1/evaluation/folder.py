"""summary.json and rows.json of an evaluation folder: one model for each, which `summary` writes and `read_summary`
checks."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from judge_r1.core.deltas import Deltas
from judge_r1.files.evaluation_files import ROWS, SUMMARY, check_summary, refuse_earlier_name
from judge_r1.files.strict_json import read_checked

REPORT = "report.html"
LRBENCH = "lrbench"
"""The benchmark of a summary without a benchmark name."""

Share = Annotated[float, Field(ge=0, le=1)]
Difference = Annotated[float, Field(ge=-1, le=1)]


class Shape(BaseModel):
    """Fields of a file. Others are allowed, such as those of a benchmark."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    def as_dict(self) -> dict[str, Any]:
        """The fields that are set, in their order."""
        return self.model_dump(exclude_unset=True)


Interval = Annotated[list[Share], Field(min_length=2, max_length=2)]
Bounds = Annotated[list[float], Field(min_length=2, max_length=2)]


class Part(Shape):
    """The measures of a judge on some items."""

    n: int = Field(ge=1)
    cases: int = 1
    accuracy: Share
    ci95: Interval
    label_f1: Share | None
    valid_rate: Share
    searches: float


class PrinciplePart(Part):
    """The items that violate a principle. `single`: those that violate no other."""

    named: Share | None = None
    evidence_hit: Share | None = None
    single: Part | None


class System(Shape):
    """The scores of a system's texts, of a benchmark that rates texts."""

    n: int = Field(ge=1)
    invalid: int = Field(ge=0)
    accuracy: Share | None
    ci95: Interval | None


Tables = dict[str, dict[str, dict[str, float | None]]]


class _Named(Shape):
    name: str


class Row(Part, _Named):
    """One judge. The columns from `label_f1_ci95` to `reward` are there only if items are labelled."""

    label_f1_ci95: Bounds | None = None
    label_precision: Share | None = None
    label_recall: Share | None = None
    label_f1_micro: Share | None = None
    label_f1_macro: Share | None = None
    valid_strict: Share | None = None
    valid_tolerant: Share | None = None
    evidence_hit: Share | None = None
    predicted_a: Share | None = None
    gold_a: Share | None = None
    reward: float | None = None
    ended: dict[str, int] = {}
    does_not_fit: Share | None = None
    accuracy_fitting: Share | None = None
    valid_vote_rate: Share | None = None
    ties: Share | None = None
    first_preferred: Share | None = None
    consistency: Share | None = None
    settings: dict[str, Any]
    by_domain: dict[str, Part]
    by_principle: dict[str, PrinciplePart]
    unanswered: int | None = None
    missing: int | None = None
    extra: dict[str, int | float | Deltas | None] = {}
    tables: Tables = {}
    by_system: dict[str, System] = {}
    usage: dict[str, float] = {}
    replies: dict[str, dict[str, int]] = {}
    cut_prompts: int | None = None
    warnings: list[str] = []


class Delta(Shape):
    """A paired difference: `cases` are clusters, and p is by permutation of them."""

    n: int = 0
    cases: int = 0
    delta: Difference
    ci95: Annotated[list[Difference], Field(min_length=2, max_length=2)]
    p: Share = 1


class _Sides(Shape):
    a: str
    b: str


class RowDifference(Delta, _Sides):
    """The difference between two judges. `p_holm` is adjusted for all differences of the summary."""

    label_f1: Delta | None = None
    by_domain: dict[str, Delta] = {}
    by_principle: dict[str, Delta] = {}
    p_holm: Share = 1


class SharedPart(Shape):
    """The shares of items that all judges get wrong, and right."""

    n: int
    all_wrong: Share
    all_right: Share


class _Judges(Shape):
    judges: list[str]


class Shared(SharedPart, _Judges):
    by_domain: dict[str, SharedPart]


class _Pinned(Shape):
    __pydantic_extra__: dict[str, str | dict[str, str]]
    judges: dict[str, dict[str, str]]


class Summary(Shape):
    """summary.json, without its digests."""

    benchmark: str = LRBENCH
    rows: list[Row]
    differences: list[RowDifference]
    shared: Shared | None = None
    seconds: dict[str, float]
    tables: Tables = {}
    unanswered: str | None = None
    subset: str | None = None
    rates_texts: bool = False
    notes: list[str] = []
    pinned: _Pinned = _Pinned(judges={})

    @model_validator(mode="after")
    def _rows_are_named(self) -> "Summary":
        names = {row.name for row in self.rows}
        if len(names) < len(self.rows):
            raise ValueError("two rows have the same name")
        if unknown := {name for difference in self.differences for name in (difference.a, difference.b)} - names:
            raise ValueError(f"a difference names judge {min(unknown)!r}, which has no row")
        return self


class _Settings(Shape):
    members: list[dict[str, Any]] = []
    orders: int | None = None
    samples: int = 1


class Started(Shape):
    """An entry of rows.json: the SPEC of a panel, how it decodes, and a hash of the items."""

    judge: str
    settings: _Settings
    items: str


_DEFERRED = ConfigDict(defer_build=True)
_SUMMARY_SHAPE: TypeAdapter[Any] = TypeAdapter(Summary)
_ROWS_SHAPE: TypeAdapter[Any] = TypeAdapter(dict[str, Started], config=_DEFERRED)


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
