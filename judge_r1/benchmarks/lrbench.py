"""LRBench: pairs of a reference and a flawed reasoning, written by `judge-r1 build` (paper, section 3.1)."""

from pathlib import Path

from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark, Order
from judge_r1.core.folders import lacks, name_below
from judge_r1.core.items import Item
from judge_r1.episode.task import PairwiseTask, documents_of
from judge_r1.files.arrays.positions import LazySequence
from judge_r1.files.pair_set import PAIRS_FILE, PairSet, open_pairs


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a domain."""
    if not (path / PAIRS_FILE).exists():
        raise BadBenchmark(
            f"{lacks(path, PAIRS_FILE)}: give --path a folder that `judge-r1 build` or `split` wrote, or name "
            f"another benchmark by --benchmark{name_below(path, PAIRS_FILE)}"
        )
    data = open_pairs(path)
    return pair_benchmark(data if subset is None else of_domain(data, subset, path))


def of_domain(data: PairSet, domain: str, path: Path) -> PairSet:
    """The pairs of a domain. Raises: BadBenchmark, which names `path`, if there are none."""
    if domain not in (known := set(data.domains)):
        raise BadBenchmark(f"{path} holds no pairs of domain {domain!r}; available: {', '.join(sorted(known))}")
    return data.of_ids([pair_id for pair_id, found in zip(data.ids, data.domains, strict=True) if found == domain])


def pair_benchmark(data: PairSet) -> LoadedBenchmark:
    """A benchmark of labelled pairs: clusters are cases (those of one article or paper together), groups are domains,
    and judges may search the case. Pairs on disk stay there."""
    pairs = data.by_id()

    def task(item: Item, order: Order) -> PairwiseTask:
        case = data.case_of(pairs[item.item_id])
        first, second = (item.texts[index] for index in order)
        documents = documents_of(case)
        return PairwiseTask(case.domain, case.decision, first, second, case.case_id, case.context, documents=documents)

    def item_of(pair_id: str) -> Item:
        pair = pairs[pair_id]
        case = data.case_of(pair)
        return Item(
            item_id=pair_id,
            cluster_id=case.group,
            group=pair.domain,
            case_id=pair.case_id,
            instruction=case.decision,
            candidates=(pair.reasoning_a, pair.reasoning_b),
            gold=pair.preferred,
        )

    items = LazySequence(data.ids, item_of)
    return LoadedBenchmark(items, task=task, texts=data.texts, labels=pairs, strata=data.domains)


BENCHMARKS.register("lrbench")(
    Benchmark(
        "pairs built by this project, by case and principle",
        "cases.jsonl and pairs.jsonl",
        load,
        verified=True,
        subsets="a domain",
    )
)
