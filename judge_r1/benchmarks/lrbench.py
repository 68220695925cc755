"""LRBench: pairs of a reference and a flawed reasoning, written by `judge-r1 build` (paper, section 3.1)."""

from pathlib import Path

from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark, Order
from judge_r1.core.items import Item
from judge_r1.core.pair_set import PairSet, open_pairs
from judge_r1.episode.task import PairwiseTask


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a domain."""
    if not (path / "pairs.jsonl").exists():
        raise BadBenchmark(
            f"{path} holds no pairs.jsonl: give --path a folder that `judge-r1 build` or `split` wrote, or name "
            "another benchmark by --benchmark"
        )
    data = open_pairs(path)
    domains = sorted({pair.domain for pair in data.pairs})
    if subset is not None and subset not in domains:
        raise BadBenchmark(f"{path} holds no pairs of domain {subset!r}; available: {', '.join(domains)}")
    return pair_benchmark(PairSet(data.cases, [pair for pair in data.pairs if subset in (None, pair.domain)]))


def pair_benchmark(data: PairSet) -> LoadedBenchmark:
    """A benchmark of labelled pairs: clusters are cases, groups are domains, and judges may search the case."""
    pairs = data.by_id()

    def task(item: Item, order: Order) -> PairwiseTask:
        case = data.case_of(pairs[item.item_id])
        first, second = (item.texts[index] for index in order)
        return PairwiseTask(case.domain, case.decision, first, second, case.case_id, case.context)

    items = [
        Item(
            item_id=pair.pair_id,
            cluster_id=pair.case_id,
            group=pair.domain,
            case_id=pair.case_id,
            instruction=data.case_of(pair).decision,
            candidates=(pair.reasoning_a, pair.reasoning_b),
            gold=pair.preferred,
        )
        for pair in data.pairs
    ]
    return LoadedBenchmark(items, task=task, texts=data.texts, labels=pairs)


BENCHMARKS.register("lrbench")(
    Benchmark(
        "pairs built by this project, by case and principle",
        "cases.jsonl and pairs.jsonl",
        load,
        subsets="a domain",
    )
)
