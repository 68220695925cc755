"""JudgeMemo's tables from scores that were parsed before: no document, no judge and no answer is needed.

A table (.csv, .jsonl, …) has a row for each text that a judge rated:

* `judge`, or `model` with optional `pipeline` and `setting`
* `document` (or `doc`), and `length`: `full`, or the name of a short one, such as 2000
* `manipulation` (or `task`): `original` or `gold` for the original, else the name of the copy
* a column for each metric, with a score from 1 to 5, or nothing
* `intensity`, optional: that of the copy, if there are several
* `metric`: the one that the copy is degraded in. The thesis' numbers of manipulations (17, 24, 32, 41, …) need none
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from judge_r1.benchmarks.cofluence import detection
from judge_r1.benchmarks.cofluence.deltas import delta_metrics
from judge_r1.benchmarks.pairwise import vote_of
from judge_r1.core.deltas import AT, MISSING, ORIGINAL
from judge_r1.core.documents import COHERENCE, FLUENCY, FULL
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Item, ItemResult, item_result
from judge_r1.core.text_check import check_spelling
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict
from judge_r1.evaluation.report.tables import NONE, Grid
from judge_r1.files.tabular import Row, file_rows

LEAST, MOST = 1, 5
_TEXT = {
    "judge",
    "model",
    "pipeline",
    "setting",
    "document",
    "doc",
    "length",
    "manipulation",
    "task",
    "intensity",
    "metric",
}
"""The columns that are no metric."""
_THESIS = re.compile(r"\[?([1-4])\d\]?")
"""The thesis' number of a manipulation; the first digit is its category, and only the fourth degrades fluency."""
Key = tuple[str, str, str]
"""Judge, document and length."""
Scores = Mapping[str, float]


def read_parsed_scores(files: Sequence[Path]) -> dict[str, list[ItemResult]]:
    """The results of each judge: one for each document and length, with the original and all of its copies.

    Raises:
        BadTable: A row is incomplete, repeats another one, or has a score outside of 1 to 5.
        JudgeError: There is no score.
    """
    found: dict[Key, dict[str, Scores]] = {}
    targets: dict[tuple[str, str], dict[str, str]] = {}
    for row in (row for file in files for row in file_rows(file)):
        length = _label(row, "length")
        key = _judge(row), _label(row, "document", "doc"), FULL if length.lower() == FULL else length
        name = _label(row, "manipulation", "task")
        name = ORIGINAL if name.lower() in (ORIGINAL, "gold") else name
        if name != ORIGINAL and row.values.get("intensity") not in (None, ""):
            name = f"{name}{AT}{row.label('intensity')}"
        if name in found.setdefault(key, {}):
            raise row.error("document", f"repeats {name} of {key[1]!r} at length {key[2]} by {key[0]!r}: keep one row")
        found[key][name] = _scores(row)
        own = targets.setdefault((key[0], key[2]), {})
        if name != ORIGINAL and own.setdefault(name, metric := _target(row, name)) != metric:
            raise row.error("metric", f"of {name} is {metric}, and in another row {own[name]}")
    if not found:
        raise JudgeError(f"{', '.join(map(str, files))}: no scores")
    for at, kind in enumerate(("judges", "documents", "lengths")):
        check_spelling((key[at] for key in found), kind)
    results: dict[str, list[ItemResult]] = {}
    for key, texts in found.items():
        results.setdefault(key[0], []).append(_result(key, texts, targets[key[0], key[2]]))
    return results


def summary_rows(results: Mapping[str, Sequence[ItemResult]]) -> list[dict[str, Any]]:
    """A row for each judge, as `judge_r1.evaluation.report.delta_tables` shows them."""
    return [{"name": judge, "extra": delta_metrics(own)} for judge, own in results.items()]


def original_scores(results: Mapping[str, Sequence[ItemResult]]) -> Grid:
    """The mean scores of the originals at each length, and the difference to the full text (Tables 5.1 and 5.2)."""
    lengths = list(dict.fromkeys(result.group for own in results.values() for result in own if result.group != FULL))
    rows = []
    for judge, own in results.items():
        by_length = {length: _originals(own, length) for length in (*lengths, FULL)}
        for metric in dict.fromkeys(
            name for texts in by_length.values() for scores in texts.values() for name in scores
        ):
            given = {
                length: {document: scores[metric] for document, scores in texts.items() if metric in scores}
                for length, texts in by_length.items()
            }
            means = (f"{fmean(one.values()):.3f} ({len(one)})" if one else NONE for one in given.values())
            gaps = (_gap(given[length], given[FULL]) for length in lengths)
            rows.append((judge, metric, *means, *gaps))
    note = "Mean over documents, and their number. Differences are over the documents that have both scores."
    heads = ("judge", "metric", *lengths, FULL, *(f"{length} - {FULL}" for length in lengths))
    return Grid("Scores of the originals", note, heads, tuple(rows))


def z_grids(rows: Sequence[Mapping[str, Any]]) -> list[Grid]:
    """For each short length z(short), z(full) and z(short - full) of Δ, one column for each judge (A.12 to A.15)."""
    grids = []
    deltas = {row["name"]: row["extra"]["deltas"] for row in rows}
    tasks = list(dict.fromkeys(task["manipulation"] for own in deltas.values() for task in own["tasks"]))
    for short in dict.fromkeys(test["short"] for own in deltas.values() for test in own["lengths"]):
        cells = []
        for name in tasks:
            t = {
                judge: (
                    *(_t(own["tasks"], manipulation=name, length=length) for length in (short, FULL)),
                    _t(own["lengths"], sign=-1, manipulation=name, short=short),
                )
                for judge, own in deltas.items()
            }
            cells.append((name, *(" / ".join(values) for values in t.values())))
        note = (
            f"t of Δ at {short} / at {FULL} / of Δ({short}) - Δ({FULL}). Below 0: the copy scores lower than its "
            f"original; in the third one, it is noticed less in the {FULL} text."
        )
        grids.append(Grid(f"z by manipulation, {short} and {FULL}", note, ("manipulation", *deltas), tuple(cells)))
    return grids


def _result(key: Key, texts: Mapping[str, Scores], targets: Mapping[str, str]) -> ItemResult:
    judge, document, length = key
    names = [ORIGINAL, *targets]
    item = Item(
        item_id=f"{document}/{length}", cluster_id=document, group=length, instruction="", candidates=tuple(names),
        systems=tuple(names), gold=dict(targets),
    )  # fmt: skip
    scores = [texts.get(name) for name in names]
    votes = [
        vote_of((at,), ChecklistVerdict(scores=dict(own)) if own else InvalidVerdict(reason=MISSING))
        for at, own in enumerate(scores)
    ]
    return item_result(judge, item, votes, detection(item, votes))


def _originals(results: Sequence[ItemResult], length: str) -> dict[str, Scores]:
    """Document -> scores of its original."""
    return {
        result.cluster_id: verdict.scores
        for result in results
        if result.group == length and isinstance(verdict := result.votes[0].verdict, ChecklistVerdict)
    }


def _gap(short: Mapping[str, float], full: Mapping[str, float]) -> str:
    shared = [short[document] - full[document] for document in short if document in full]
    return f"{fmean(shared):+.3f}" if shared else NONE


def _t(tests: Sequence[Mapping[str, Any]], *, sign: int = 1, **which: str) -> str:
    found = [test["t"] for test in tests if all(test[name] == value for name, value in which.items())]
    return f"{sign * found[0]:.2f}" if found and found[0] is not None else NONE


def _label(row: Row, *columns: str) -> str:
    """The label in the first of the columns that the row has."""
    return row.name(next((column for column in columns if column in row.values), columns[0]))


def _judge(row: Row) -> str:
    if "judge" in row.values or "model" not in row.values:
        return row.name("judge")
    parts = [row.label(column) for column in ("pipeline", "model", "setting") if row.values.get(column)]
    return "/".join(parts)


def _scores(row: Row) -> Scores:
    metrics = [column for column in row.values if column not in _TEXT]
    if not metrics:
        raise row.missing("fluency")
    given = {name: row.bounded(name, row.values[name], MOST) for name in metrics if row.values[name] not in (None, "")}
    if low := next((name for name, score in given.items() if score < LEAST), None):
        raise row.error(low, f"holds {given[low]:g}, and scores are from {LEAST} to {MOST}: leave a missing one empty")
    return given


def _target(row: Row, name: str) -> str:
    if row.values.get("metric"):
        return row.name("metric")
    if (number := _THESIS.fullmatch(name.partition(AT)[0])) is None:
        raise row.error("metric", f"must name the metric that {name!r} degrades")
    return FLUENCY if number[1] == "4" else COHERENCE
