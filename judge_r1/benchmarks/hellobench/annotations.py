"""Human annotations of checklists: JSON Lines or CSV, in the layout of HelloBench's annotation page or a plain one.

The page's rows have `category` and `evaluation_results`: k item scores as whole numbers from 0 to 4, then the overall
score from 0 to 10. Plain rows have `category`, `overall` and the item scores in [0, 1], as a list `scores` or, in a CSV
table, as columns `item_0`, `item_1`, …. All may have `id` (the instruction), `system` (or `model`: whose response) and
`annotator`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.hellobench.files import TASKS
from judge_r1.core.checklist import OVERALL_BEST
from judge_r1.core.tabular import Row, file_rows
from judge_r1.core.text_check import check_spelling

PAGE_SCALE = 4
"""The page stores 0, 0.25, …, 1 as 0 to 4."""
_ITEM = re.compile(r"item_\d+")


@dataclass(frozen=True)
class Annotation:
    """One annotator's scores of one response: items in [0, 1], the whole in [0, 10]. `where` is file and line."""

    category: str
    scores: tuple[float, ...]
    overall: float
    id: str
    system: str
    annotator: str
    where: str

    @property
    def task(self) -> str | None:
        """The task of the instruction, by its id (`chat_012`); None for other ids."""
        name = self.id.rpartition("_")[0]
        return name if name in TASKS else None


def read_annotations(path: Path, skipped: Counter[str] | None = None) -> Iterator[Annotation]:
    """The annotations of a file. Rows that nobody has annotated yet are counted in `skipped`. Raises: BadTable."""
    skipped = Counter() if skipped is None else skipped
    for row in file_rows(path):
        page = "evaluation_results" in row.values
        if page and {"scores", "overall"} & row.values.keys():
            raise row.error("evaluation_results", "holds the item scores and the overall score: remove the other ones")
        if page and not row.value("evaluation_results"):
            skipped["not annotated"] += 1
            continue
        scores, overall = _page(row) if page else _plain(row)
        if not scores:
            column = "evaluation_results" if page else "scores" if "scores" in row.values else "item_0"
            raise row.error(column, "must hold a score for each question of the checklist")
        yield Annotation(
            category=row.name("category"),
            scores=scores,
            overall=overall,
            id=_optional(row, "id") or row.where,
            system=_optional(row, "system") or _optional(row, "model"),
            annotator=_optional(row, "annotator"),
            where=row.where,
        )


def averaged(annotations: Sequence[Annotation]) -> list[Annotation]:
    """One annotation for each response: the mean over its annotators. Without names, each row is another annotator.

    Raises:
        BadBenchmark: An annotator scored the same response twice.
        BadText: Two names differ in white space alone.
        ValueError: The annotators of a response scored different numbers of questions.
    """
    # Two spellings of one name would be two annotators, or two responses, and weigh twice.
    for kind, names in (("annotators", "annotator"), ("systems", "system"), ("ids", "id"), ("categories", "category")):
        check_spelling((getattr(one, names) for one in annotations), kind)
    groups: dict[tuple[str, str, str], list[Annotation]] = {}
    first: dict[tuple[str, ...], Annotation] = {}
    for one in annotations:
        if one.annotator and first.setdefault((one.category, one.id, one.system, one.annotator), one) is not one:
            before = first[one.category, one.id, one.system, one.annotator]
            raise BadBenchmark(
                f"{one.where}: annotator {one.annotator!r} scores {one.id!r} a second time, after {before.where}: "
                "remove one of the rows, or name the system of each"
            )
        groups.setdefault((one.category, one.id, one.system), []).append(one)
    return [_mean(found) for found in groups.values()]


def _mean(found: Sequence[Annotation]) -> Annotation:
    """The mean of the annotations of one response."""
    by_question = zip(*(one.scores for one in found), strict=True)
    return Annotation(
        category=found[0].category,
        scores=tuple(map(fmean, by_question)),
        overall=fmean(one.overall for one in found),
        id=found[0].id,
        system=found[0].system,
        annotator="+".join(sorted({one.annotator for one in found})),
        where=found[0].where,
    )


def _page(row: Row) -> tuple[tuple[float, ...], float]:
    *items, overall = _list(row, "evaluation_results")
    scores = [row.bounded("evaluation_results", item, PAGE_SCALE) / PAGE_SCALE for item in items]
    return tuple(scores), row.bounded("evaluation_results", overall, OVERALL_BEST)


def _plain(row: Row) -> tuple[tuple[float, ...], float]:
    if "scores" in row.values:
        scores = [row.bounded("scores", item, 1) for item in _list(row, "scores")]
    else:
        count = sum(_ITEM.fullmatch(name) is not None for name in row.values)
        columns = [f"item_{number}" for number in range(count)]
        given = [column for column in columns if row.value(column) not in ("", None)]
        if given != columns[: len(given)]:
            raise row.error(given[-1], "has a value, but an item before it has none")
        scores = [row.bounded(column, row.value(column), 1) for column in given]
    return tuple(scores), row.bounded("overall", row.value("overall"), OVERALL_BEST)


def _list(row: Row, column: str) -> list[Any]:
    value = row.value(column)
    if not isinstance(value, list):
        raise row.wrong_type(column, "a list of numbers")
    return value


def _optional(row: Row, column: str) -> str:
    return row.label(column) if row.values.get(column) not in (None, "") else ""
