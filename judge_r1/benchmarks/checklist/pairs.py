"""Pairs of `judge-r1 build checklist-pairs-test`, in the prompt that judges are trained on: which response is better.

Each pair is judged in both orders, and accuracy is the mean over them. The questions on which the worse response is
lower are asked for, as in training, but only the comparison counts.
"""

from pathlib import Path

from judge_r1.benchmarks.aggregation import mean_correct
from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark, Order, both_orders
from judge_r1.benchmarks.pairwise import check_subset, pair_item
from judge_r1.core.items import Item
from judge_r1.core.jsonl import read_jsonl
from judge_r1.core.pair_set import PAIRS_FILE
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, Verdict
from judge_r1.episode.checklist_pair import ChecklistPair
from judge_r1.episode.checklist_reward import read_comparison
from judge_r1.judges.checklist.task import LIMITS
from judge_r1.judges.request import CustomPrompt


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a task, such as chat. Groups are tasks, and clusters instructions."""
    pairs = {pair.pair_id: pair for pair in read_jsonl(path / PAIRS_FILE, ChecklistPair, unique="pair_id")}
    if not pairs:
        raise BadBenchmark(f"{path / PAIRS_FILE} has no pairs")
    check_subset(subset, {pair.task for pair in pairs.values()})

    def task(item: Item, order: Order) -> CustomPrompt:
        return CustomPrompt(pairs[item.item_id].prompt(tuple(order)), _read)

    items = [
        pair_item(p.pair_id, p.instruction, (p.response_a, p.response_b), p.preferred, p.task, p.instruction_id)
        for p in pairs.values()
        if subset in (None, p.task)
    ]
    return LoadedBenchmark(items, task, both_orders, mean_correct, limits=LIMITS)


def _read(text: str) -> Verdict:
    found = read_comparison(text)
    if found is None:
        return InvalidVerdict(reason="no_comparison")
    return PairwiseVerdict(winner="A" if found.comparison == "A>B" else "B")


BENCHMARKS.register("checklist-pairs")(
    Benchmark(
        "held-out pairs of responses, compared by their checklist; both orders",
        "a folder of `judge-r1 build checklist-pairs-test` (pairs.jsonl)",
        load,
        verified=True,
        subsets="a task",
    )
)
