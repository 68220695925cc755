"""LongJudgeBench: how well a judge of LONG texts agrees with experts (arXiv 2606.01629), on its original files.

The module `subset` documents the subset text; docs/longjudgebench.md lists the differences from the release.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark, Order
from judge_r1.benchmarks.longjudgebench.aggregation import aggregate
from judge_r1.benchmarks.longjudgebench.baselines import baseline_rows
from judge_r1.benchmarks.longjudgebench.loading import describe_coverage, judgeable, read_queries
from judge_r1.benchmarks.longjudgebench.metrics import measures
from judge_r1.benchmarks.longjudgebench.query import Query, item_of
from judge_r1.benchmarks.longjudgebench.release_format import read_lines
from judge_r1.benchmarks.longjudgebench.requests import case_id, case_text, orders_of, prompted, searched
from judge_r1.benchmarks.longjudgebench.subset import ALL, SubsetOptions, parse_subset
from judge_r1.core.items import Item, ItemResult
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.request import CustomPrompt


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """Items are queries: a pair, an answer to verify, or all outputs to one task; their groups are the paper's columns.

    Credit is the paper's accuracy (Eq. 6), so that the mean over items is its macro-average. A suite without the texts
    to judge can still be scored (`predictions`); to ask one of its questions raises BadBenchmark.
    """
    options = parse_subset(subset)
    known = read_queries(path, options)
    able = judgeable(known, options)
    by_item = {query.item_id: query for query in able or known}
    texts = {
        case_id(query, order): case_text(query, options, order)
        for query in able
        if options.search
        for order in orders_of(query, options)
    }

    def question(item: Item, order: Order) -> PairwiseTask | CustomPrompt:
        if not able:
            raise BadBenchmark(
                f"{path} lacks the texts or references of {subset or ALL!r} ({describe_coverage(known, options)})"
            )
        query = by_item[item.item_id]
        if options.search:
            return searched(query, options, order, texts[case_id(query, order)])
        return prompted(query, options, path, order)

    return LoadedBenchmark(
        [item_of(query, reference=options.reference, search=options.search) for query in by_item.values()],
        task=question,
        presentation_orders=lambda item: orders_of(by_item[item.item_id], options),
        aggregate=aggregate,
        texts=texts,
        metrics=partial(_extra, {query.item_id: query for query in known}, by_item),
        baselines=partial(_baselines, by_item, options),
    )


def _extra(
    known: Mapping[str, Query], able: Mapping[str, Query], outcomes: Sequence[ItemResult]
) -> dict[str, float | None]:
    """A query is judged on the outputs whose texts are there, and published outputs are scored on all of them."""
    queries = {**known, **able}
    for outcome in outcomes:
        query = able.get(outcome.item_id)
        if query and not isinstance(outcome.gold, str) and len(query.systems) != len(outcome.gold["systems"]):
            queries[outcome.item_id] = known[outcome.item_id]
    return measures(queries, outcomes)


def predictions(path: Path, file: Path, subset: str | None) -> Sequence[ItemResult]:
    """Outputs of one set and setting in the release's own lines (`longjudge.judge_lines`), on all of the ground truth:
    no text is needed, and a line that is missing is wrong."""
    options = parse_subset(subset)
    queries = read_queries(path, options) if len(options.sets) == 1 else []
    if options.search or len({query.column for query in queries}) != 1:
        raise BadBenchmark("a file of outputs is of one set and one setting: name them, such as surge:content:rubric")
    return read_lines(file, queries, options)


def _baselines(
    queries: Mapping[str, Query], options: SubsetOptions, items: Sequence[Item]
) -> dict[str, list[ItemResult]]:
    """Of a single column, for a rule of one says nothing about another; they search nothing."""
    shown = [queries[item.item_id] for item in items]
    if len({query.column for query in shown}) != 1:
        return {}
    rows = baseline_rows(shown, replace(options, search=False))
    return {name: row for name, row in rows.items() if len(row) >= len(shown)}


BENCHMARKS.register("longjudgebench")(
    Benchmark(
        "long texts against experts: scores, pairs and rankings",
        "a checkout of cjj826/LongJudgeBench, with config, ground_truth, data_standardized and data",
        load,
        predictions=predictions,
        subsets="SET[:SETTING][:search][:paper], see its page",
    )
)
