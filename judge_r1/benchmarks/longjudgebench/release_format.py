"""Reads judge outputs in the release's format (`outputs/judge_results/JUDGE/SET/MODE.jsonl`).

A line is `{data_id, model, response, judge_result}` (one output), `{data_id, response_a, response_b, judge_result}` (a
pair, in presentation order) or `{data_id, models, judge_result}` (a listing, in presentation order).
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from judge_r1.benchmarks.base import BadBenchmark, Order
from judge_r1.benchmarks.longjudgebench.aggregation import aggregate
from judge_r1.benchmarks.longjudgebench.query import Id, Query, item_of
from judge_r1.benchmarks.longjudgebench.requests import answer_reader, orders_of
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.benchmarks.pairwise import vote_of
from judge_r1.core.items import ItemResult, Vote, item_result
from judge_r1.core.text_check import short_name
from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.files.jsonl import read_with_offsets

MISSING = "missing"
"""The reason of an invalid verdict: the file has no line for the output. It counts as wrong."""
_POSITION_KEYS = ("swap_position", "debiased")


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
    """One result per query of the ground truth. Raises BadBenchmark for a line that matches no query or repeats
    another line."""
    by_id: dict[str, list[Query]] = defaultdict(list)
    for query in queries:
        for data_id in dict.fromkeys(query.ids):
            by_id[data_id].append(query)
    votes: dict[str, dict[Order, Vote]] = {query.item_id: {} for query in queries}
    for byte, line in read_with_offsets(file, JudgeLine):
        where = f"{file}, data_id {line.data_id} (byte {byte})"
        query, order = _locate(line, by_id.get(line.data_id, []), where)
        if order in votes[query.item_id]:
            raise BadBenchmark(f"{where}: an earlier line judges the same outputs; remove one of the two")
        verdict = answer_reader(query, options, order)(_text(line, options))
        votes[query.item_id][order] = vote_of(order, verdict)
    return [_item_result(file.stem, query, votes[query.item_id], options) for query in queries]


def _locate(line: JudgeLine, queries: Sequence[Query], where: str) -> tuple[Query, Order]:
    """The query of a line, and its outputs in presentation order."""
    if not queries:
        raise BadBenchmark(f"{where}: the ground truth has no such id: score the file against its own set and setting")
    names = line.models or (line.response_a, line.response_b)
    for query in queries:
        if query.column == "Verify":
            return query, (0,)
        if query.protocol == "pointwise":
            indices = [index for index, data_id in enumerate(query.ids) if data_id == line.data_id]
            if len(indices) > 1:
                indices = [index for index in indices if query.systems[index] == line.model]
            if indices:
                return query, (indices[0],)
        elif sorted(query.systems) == sorted(name or "" for name in names):
            return query, tuple(query.systems.index(name or "") for name in names)
    shown = short_name(str(line.model or names), 200)
    raise BadBenchmark(f"{where}: the ground truth has no output of {shown} for that id")


def _text(line: JudgeLine, options: SubsetOptions) -> str:
    """The judge's raw answer, or the release's parsed result as JSON if the file holds only that."""
    result = line.judge_result or {}
    raw = line.response or result.get("raw")
    if isinstance(raw, str) and raw and not (options.paper and line.judge_result):
        return raw
    return json.dumps({key: value for key, value in result.items() if key not in _POSITION_KEYS}, ensure_ascii=False)


def _item_result(row: str, query: Query, votes: Mapping[Order, Vote], options: SubsetOptions) -> ItemResult:
    """Listings use the orders found in the file. All other queries, and missing listings, use `orders_of`."""
    orders = list(votes) if votes and query.protocol == "listwise" else orders_of(query, options)
    result_votes = [votes.get(order) or vote_of(order, InvalidVerdict(reason=MISSING)) for order in orders]
    item = item_of(query, reference=options.reference)
    return item_result(row, item, result_votes, aggregate(item, result_votes))
