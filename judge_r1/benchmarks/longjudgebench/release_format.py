"""Judge outputs as the release writes them (`outputs/judge_results/JUDGE/SET/MODE.jsonl`), in and out.

A line is `{data_id, model, response, judge_result}` (one output), `{data_id, response_a, response_b, judge_result}` (a
pair, as shown) or `{data_id, models, judge_result}` (a listing, as shown).
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from judge_r1.benchmarks.base import BadBenchmark, Order
from judge_r1.benchmarks.longjudgebench.aggregation import aggregate
from judge_r1.benchmarks.longjudgebench.answer_parsers import Unread, found_json
from judge_r1.benchmarks.longjudgebench.query import Id, Query, item_of
from judge_r1.benchmarks.longjudgebench.requests import answer_reader, orders_of
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.benchmarks.pairwise import vote_of
from judge_r1.core.items import ItemResult, Vote, item_result
from judge_r1.core.jsonl import read_with_offsets
from judge_r1.core.records import InvalidVerdict, Trajectory, Verdict

MISSING = "missing"
"""The reason of a game that the file has no line for: it is wrong, and stays in the denominator."""
_KEPT = ("swap_position", "debiased")


class Trace(Protocol):
    """The fields of `judge_r1.evaluation.traces.Trace` that a line is written from."""

    @property
    def row(self) -> str: ...

    @property
    def item_id(self) -> str: ...

    @property
    def order(self) -> Order: ...

    @property
    def sample(self) -> int: ...

    @property
    def member(self) -> int: ...

    @property
    def verdict(self) -> Verdict: ...

    @property
    def trajectory(self) -> Trajectory: ...


class JudgeLine(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    data_id: Id
    model: str | None = None
    models: tuple[str, ...] | None = None
    response_a: str | None = None
    response_b: str | None = None
    response: str | None = None
    judge_result: dict[str, Any] | None = None


def read_lines(file: Path, queries: Sequence[Query], options: SubsetOptions) -> list[ItemResult]:
    """One outcome for every query of the ground truth. Raises BadBenchmark for a line that is of none of them, or that
    repeats another."""
    by_id: dict[str, list[Query]] = defaultdict(list)
    for query in queries:
        for data_id in dict.fromkeys(query.ids):
            by_id[data_id].append(query)
    games: dict[str, dict[Order, Vote]] = {query.item_id: {} for query in queries}
    for byte, line in read_with_offsets(file, JudgeLine):
        where = f"{file}, data_id {line.data_id} (byte {byte})"
        query, order = _shown(line, by_id.get(line.data_id, []), options, where)
        if order in games[query.item_id]:
            raise BadBenchmark(f"{where}: these outputs were judged on an earlier line already; remove one of the two")
        verdict = answer_reader(query, options, order)(_text(line, options))
        games[query.item_id][order] = vote_of(order, verdict)
    return [_outcome(file.stem, query, games[query.item_id], options) for query in queries]


def _shown(line: JudgeLine, queries: Sequence[Query], options: SubsetOptions, where: str) -> tuple[Query, Order]:
    """Which query the line is of, and its outputs in the order shown."""
    if not queries:
        raise BadBenchmark(f"{where}: the ground truth has no such id: score the file against its own set and setting")
    names = line.models or (line.response_a, line.response_b)
    for query in queries:
        if query.column == "Verify":
            return query, (0,)
        if query.column in ("DR", "RealDR"):
            places = [at for at, data_id in enumerate(query.ids) if data_id == line.data_id]
            fitting = places if len(places) == 1 else [at for at in places if query.systems[at] == line.model]
            if fitting:
                return query, (fitting[0],)
        elif sorted(query.systems) == sorted(name or "" for name in names):
            return query, tuple(query.systems.index(name or "") for name in names)
    raise BadBenchmark(f"{where}: the ground truth has no output of {line.model or names} for that id")


def _text(line: JudgeLine, options: SubsetOptions) -> str:
    """What the judge wrote; where the file keeps only what the release read in it, that."""
    result = line.judge_result or {}
    raw = line.response or result.get("raw")
    if isinstance(raw, str) and raw and not (options.paper and line.judge_result):
        return raw
    return json.dumps({key: value for key, value in result.items() if key not in _KEPT}, ensure_ascii=False)


def _outcome(row: str, query: Query, games: Mapping[Order, Vote], options: SubsetOptions) -> ItemResult:
    """The orders of a listing are whatever the file shows; a listing not there, and all else, as we would ask."""
    wanted = orders_of(query, options)
    orders = list(games) if games and query.dataset == "surge" else wanted
    played = [games.get(order) or vote_of(order, InvalidVerdict(reason=MISSING)) for order in orders]
    item = item_of(query, reference=options.reference)
    return item_result(row, item, played, aggregate(item, played))


def written(
    traces: Iterable[Trace], queries: Sequence[Query], options: SubsetOptions, mode: str
) -> Iterator[dict[str, Any]]:
    """Our traces of one set as lines of that format, to be scored by the release; one judge, one sample, no search.

    What was not answered has an empty `judge_result` with the reason as its `error`. Raises BadBenchmark."""
    by_item = {query.item_id: query for query in queries}
    for trace in traces:
        query = by_item.get(trace.item_id)
        if query is None:
            raise BadBenchmark(f"the trace of item {trace.item_id} is of another set than the one to be written")
        if options.search or trace.member or trace.sample:
            raise BadBenchmark("the release's lines hold one answer of one judge to its own prompts, and no more")
        yield {
            "data_id": query.ids[trace.order[0]],
            **_named(query, trace.order),
            **_said(trace, query),
            "dataset": query.dataset,
            "paradigm": {"WP": "pairwise", "MA": "pairwise"}.get(query.column, _paradigm(query)),
            "prompt_mode": mode,
            "judge_model": trace.row,
        }


def _paradigm(query: Query) -> str:
    return "listwise" if query.dataset == "surge" else "pointwise"


def _named(query: Query, order: Order) -> dict[str, Any]:
    names = [query.systems[place] for place in order]
    if query.dataset == "surge":
        return {"models": names}
    if len(names) == 1:
        return {"model": names[0]}
    return {"response_a": names[0], "response_b": names[1]}


def _said(trace: Trace, query: Query) -> dict[str, Any]:
    text = trace.trajectory.turns[-1].text if trace.trajectory.turns else ""
    try:
        result = found_json(text)
    except Unread as error:
        verdict = trace.verdict
        reason = verdict.reason if isinstance(verdict, InvalidVerdict) else str(error)
        result = {"raw": text, "error": reason}
    if query.column in ("WP", "MA"):
        position = "original" if query.systems[trace.order[0]] == query.first else "swapped"
        return {"judge_result": {**result, "swap_position": position, "debiased": True}}
    return {"judge_result": result} if query.dataset == "surge" else {"response": text, "judge_result": result}
