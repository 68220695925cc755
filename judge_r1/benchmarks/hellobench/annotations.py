"""Human annotations of checklists: JSON Lines or CSV, in the layout of HelloBench's annotation page or a plain one.

The page's rows have `category` and `evaluation_results`: k item scores as whole numbers from 0 to 4, then the overall
score from 0 to 10. Plain rows have `category`, `overall` and the item scores in [0, 1], as a list `scores` or, in a CSV
table, as columns `item_0`, `item_1`, …; so have the answers of `judge-r1 audit serve`. All may have `id` (the
instruction), `system` (or `model`: whose response) and `annotator`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.checklist.agreement import item_scores
from judge_r1.benchmarks.checklist.items import ChecklistEntry
from judge_r1.benchmarks.hellobench.files import TASKS, HelloBenchOptions, read_responses, released_scores, systems_in
from judge_r1.core.checklist import OVERALL_BEST
from judge_r1.core.items import ItemResult
from judge_r1.core.text_check import check_spelling, counted
from judge_r1.files.evaluation_files import OUTCOMES, SUMMARY, check_outcomes, check_summary
from judge_r1.files.jsonl import read_jsonl
from judge_r1.files.strict_json import read_json
from judge_r1.files.tabular import Row, file_rows

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
    """The annotations of a file. Rows that nobody has annotated yet are counted in `skipped`, and so are answers of the
    page of `judge-r1 audit serve` that a later line changes. Raises: BadTable."""
    skipped = Counter() if skipped is None else skipped
    for row in _last_answers(list(file_rows(path)), skipped):
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


def _last_answers(rows: Sequence[Row], skipped: Counter[str]) -> Iterator[Row]:
    """The rows without those of our page (`pair_id`) that the same person answers again below."""
    keys = [(row.values.get("annotator"), row.values["pair_id"]) if "pair_id" in row.values else None for row in rows]
    last = {key: at for at, key in enumerate(keys)}
    for at, (row, key) in enumerate(zip(rows, keys, strict=True)):
        if key is None or last[key] == at:
            yield row
        else:
            skipped["changed later"] += 1


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


def add_gold(
    entries: Sequence[ChecklistEntry], options: HelloBenchOptions, *, part: bool = False
) -> list[ChecklistEntry]:
    """The entries with the gold of `human` and `gold`. Raises: BadBenchmark if a file matches no entry, unless they are
    a `part` of the texts."""
    if options.human:
        entries = _with_humans(entries, options.human, part=part)
    if options.gold:
        found = _item_scores(options.gold, entries)
        if not part and not any(entry.item_id in found for entry in entries):
            raise BadBenchmark(f"{options.gold} scores none of the texts to judge: its systems and ids are others")
        entries = [replace(entry, gold_scores=found.get(entry.item_id, entry.gold_scores)) for entry in entries]
    return list(entries)


def _with_humans(entries: Sequence[ChecklistEntry], path: Path, *, part: bool) -> list[ChecklistEntry]:
    """Annotations belong to a text by the id of its instruction and its system. Several annotators are averaged."""
    skipped: Counter[str] = Counter()
    found: dict[tuple[str, str], Annotation] = {}
    for own in averaged(list(read_annotations(path, skipped))):
        known = found.setdefault((own.id, own.system), own)
        if known is not own:
            raise BadBenchmark(
                f"{own.where}: scores {own.id!r} as category {own.category!r}, and {known.where} as "
                f"{known.category!r}: an instruction has one category"
            )
    matched = 0
    result = []
    for entry in entries:
        one = found.get((entry.cluster_id, entry.system))
        if one is not None and len(one.scores) != len(entry.checklist.criteria):
            raise BadBenchmark(
                f"{one.where}: has {len(one.scores)} item scores, and the checklist of {entry.cluster_id} has "
                f"{counted(len(entry.checklist.criteria), 'question')}"
            )
        matched += one is not None
        result.append(entry if one is None else replace(entry, gold_scores=one.scores, gold_overall=one.overall))
    if not matched and not part:
        raise BadBenchmark(
            f"{path} scores none of the texts to judge: rows need `id` (of the instruction) and `system` as in the "
            "responses"
        )
    return result


def _item_scores(path: Path, entries: Sequence[ChecklistEntry]) -> dict[str, tuple[float, ...]]:
    """Item scores by item id, from an evaluation of one judge or from released judgements."""
    found: dict[str, tuple[float, ...]] = {}
    if (path / OUTCOMES).is_file():
        summary = read_json(path / SUMMARY)
        check_summary(path, summary)
        check_outcomes(path, summary)
        results = list(read_jsonl(path / OUTCOMES, ItemResult))
        if len(judges := {result.judge for result in results}) > 1:
            raise BadBenchmark(f"{path} holds the judges {', '.join(sorted(judges))}: gold is of one judge")
        return {result.item_id: tuple(scores) for result in results if (scores := item_scores(result))}
    questions = {entry.item_id: len(entry.checklist.criteria) for entry in entries}
    for system, folder in systems_in(path).items():
        for response in read_responses(folder):
            item_id = f"{system}/{response.stem}/{response.id}"
            if item_id in questions and (scores := released_scores(response.row, questions[item_id])) is not None:
                found[item_id] = tuple(scores)
    return found
