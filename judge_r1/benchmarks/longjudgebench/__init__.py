"""LongJudgeBench (arXiv 2606.01629): six data sets of long texts, three protocols, four settings; judges and experts.

The module `subset` documents the subset text, and docs/longjudgebench.md lists the differences from the release.

Judge outputs of the release (`outputs/judge_results/JUDGE/SET/MODE.jsonl`) are read, too: a line is `{data_id, model,
response, judge_result}` (one output), `{data_id, response_a, response_b, judge_result}` (a pair, in presentation order)
or `{data_id, models, judge_result}` (a listing, in presentation order).
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark, Order, option_names
from judge_r1.benchmarks.longjudgebench.aggregation import aggregate, ordered_by_gold
from judge_r1.benchmarks.longjudgebench.baselines import baseline_results
from judge_r1.benchmarks.longjudgebench.metrics import column_metrics
from judge_r1.benchmarks.longjudgebench.query import COLUMNS, Id, Query, item_of, with_available_texts
from judge_r1.benchmarks.longjudgebench.requests import (
    DATASETS,
    answer_reader,
    case_id,
    case_text,
    has_required_texts,
    orders_of,
    prompt_task,
    search_task,
)
from judge_r1.benchmarks.longjudgebench.subset import ALL, SETS, SubsetOptions, parse_subset
from judge_r1.benchmarks.pairwise import vote_of
from judge_r1.core.items import Item, ItemResult, Vote, item_result
from judge_r1.core.text_check import short_name
from judge_r1.core.verdicts import CONTEXT_OVERFLOW, InvalidVerdict
from judge_r1.episode.task import PairwiseTask
from judge_r1.files.jsonl import read_with_offsets
from judge_r1.judges.request import CustomPrompt

MISSING = "missing"
"""The reason of an invalid verdict: the file has no line for the output. It counts as wrong."""
FAILURES = {"_token_exceed": CONTEXT_OVERFLOW, "_content_filter": "content_filter"}
"""The release's files of failures beside FILE.jsonl, such as FILE_token_exceed.jsonl, and the reason of each."""
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
    for suffix, reason in FAILURES.items():
        beside = file.with_name(f"{file.stem}{suffix}{file.suffix}")
        for byte, line in read_with_offsets(beside, JudgeLine) if beside.is_file() else ():
            query, order = _locate(line, by_id.get(line.data_id, []), f"{beside}, data_id {line.data_id} (byte {byte})")
            votes[query.item_id].setdefault(order, vote_of(order, InvalidVerdict(reason=reason)))
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


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """An item is a query: a pair, an answer to verify, or all outputs for a task. Groups are the paper's columns.

    An item's score is the paper's accuracy (Eq. 6), so the mean over items is its macro-average. Pairs that the gold
    calls a tie do not count in it. Without the texts to judge, `predictions` still works, and building a request raises
    BadBenchmark.
    """
    options = parse_subset(subset)
    unread: dict[str, str] = {}
    all_queries = read_queries(path, options, unread)
    judgeable_queries = judgeable(all_queries, options)
    by_item = {query.item_id: query for query in judgeable_queries or all_queries}
    texts = {
        case_id(query, order): case_text(query, options, order)
        for query in judgeable_queries
        if options.search
        for order in orders_of(query, options)
    }

    def task(item: Item, order: Order) -> PairwiseTask | CustomPrompt:
        if not judgeable_queries:
            raise BadBenchmark(
                f"{path} lacks the texts or references of {subset or ALL!r} ({describe_coverage(all_queries, options)})"
            )
        query = by_item[item.item_id]
        if options.search:
            return search_task(query, options, order, texts[case_id(query, order)])
        return prompt_task(query, options, path, order)

    return LoadedBenchmark(
        [item_of(query, reference=options.reference, search=options.search) for query in by_item.values()],
        task=task,
        presentation_orders=lambda item: orders_of(by_item[item.item_id], options),
        aggregate=aggregate,
        texts=texts,
        metrics=partial(_metrics, {query.item_id: query for query in all_queries}, by_item, options),
        baselines=partial(_baselines, by_item, options),
        limits=options.limits,
        counts=ordered_by_gold,
        notes=left_out(all_queries, judgeable_queries, unread),
    )


def _metrics(
    all_queries: Mapping[str, Query],
    judgeable_queries: Mapping[str, Query],
    options: SubsetOptions,
    results: Sequence[ItemResult],
) -> dict[str, float | None]:
    """A judge sees only the outputs with texts; published outputs are scored on all outputs of the query."""
    queries = {**all_queries, **judgeable_queries}
    for result in results:
        query = judgeable_queries.get(result.item_id)
        if query and not isinstance(result.gold, str) and len(query.systems) != len(result.gold["systems"]):
            queries[result.item_id] = all_queries[result.item_id]
    # WP has no references, so the paper's averages of settings with them are over the other columns.
    averaged = [name for name in COLUMNS if name != "WP" or not options.reference]
    return column_metrics(queries, results, averaged, options.tokens)


def predictions(path: Path, file: Path, subset: str | None) -> Sequence[ItemResult]:
    """Scores judge outputs of one data set and setting in the release's format (`release_format`) against the whole
    ground truth. The texts are not needed; a query without a line is wrong."""
    options = parse_subset(subset)
    if options.topic or options.key_insights:
        raise BadBenchmark("topic and key_insights change what a judge reads, and --predictions runs none")
    queries = read_queries(path, options) if len(options.sets) == 1 else []
    if options.search or len({query.column for query in queries}) != 1:
        raise BadBenchmark(
            "a file of outputs covers one set and one setting: name them, as in surge,dimensions=content,setting=rubric"
        )
    return read_lines(file, queries, options)


def _baselines(
    queries: Mapping[str, Query], options: SubsetOptions, items: Sequence[Item]
) -> dict[str, list[ItemResult]]:
    """The baselines that cover every item; only if all items are of one column. Baselines never search."""
    shown = [queries[item.item_id] for item in items]
    if len({query.column for query in shown}) != 1:
        return {}
    baselines = baseline_results(shown, options.model_copy(update={"search": False}))
    return {name: results for name, results in baselines.items() if len(results) >= len(shown)}


def read_queries(root: Path, options: SubsetOptions, unread: dict[str, str] | None = None) -> list[Query]:
    """Every query with a gold, with or without texts. Of several data sets, the unreadable ones are skipped, and added
    to `unread` with the reason.

    Raises BadBenchmark, with the reason of the first data set, if none can be read."""
    queries: list[Query] = []
    reasons: list[BadBenchmark] = []
    for name in options.sets:
        try:
            queries += DATASETS[name].read(root, options)
        except BadBenchmark as error:
            reasons.append(error)
            if unread is not None:
                unread[name] = str(error)
    if reasons and (len(options.sets) == 1 or not queries):
        raise reasons[0]
    if repeated := len(queries) - len({query.item_id for query in queries}):
        raise BadBenchmark(f"{root}: {repeated} queries occur twice: the files of the checkout are corrupt")
    return queries


def judgeable(queries: Sequence[Query], options: SubsetOptions) -> list[Query]:
    """The queries with texts, and with references if the setting shows them."""
    return [
        found
        for query in queries
        if has_required_texts(query, options) and (found := with_available_texts(query)) is not None
    ]


def left_out(queries: Sequence[Query], ready: Sequence[Query], unread: Mapping[str, str]) -> list[str]:
    """What the checkout lacks of the chosen sets, one sentence each."""
    notes = [f"the set {name} is left out ({reason})" for name, reason in unread.items()]
    known, there = (Counter(query.column for query in part) for part in (queries, ready))
    if short := [name for name in COLUMNS if ready and there[name] < known[name]]:
        lacking = ", ".join(f"{name} ({there[name]} of {known[name]})" for name in short)
        notes.append(f"queries without texts or references are left out: {lacking}")
    return notes


def describe_coverage(queries: Sequence[Query], options: SubsetOptions) -> str:
    """The judgeable part of each column as one sentence, so that missing files never reduce a denominator unnoticed."""
    known, ready = (Counter(query.column for query in part) for part in (queries, judgeable(queries, options)))
    return "; ".join(f"{name}: {ready[name]} of {known[name]} queries" for name in COLUMNS if known[name])


BENCHMARKS.register("longjudgebench")(
    Benchmark(
        "long texts compared with experts: scores, pairs and rankings",
        "a checkout of cjj826/LongJudgeBench, with config, ground_truth, data_standardized and data",
        load,
        verified=True,
        predictions=predictions,
        subsets=f"{ALL}, {', '.join(SETS)}; {option_names(SubsetOptions)}",
    )
)
