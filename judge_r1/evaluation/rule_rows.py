"""The rows of rules without a model, in every evaluation of pairs with a case: a judge is to be read beside them."""

from collections.abc import Collection, Sequence
from pathlib import Path

from judge_r1.benchmarks.aggregation import aggregate_votes
from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.event_loop import run_sync
from judge_r1.core.items import ItemResult
from judge_r1.core.progress import show_progress
from judge_r1.core.verdicts import preference
from judge_r1.evaluation.results import IN_MEMORY, StoredResults, result_of
from judge_r1.evaluation.runner import stored_vote
from judge_r1.judges import baselines as baselines  # has `longer`, for which all judges would be imported
from judge_r1.judges.base import BadJudge, JudgeBuild
from judge_r1.judges.panel import make_judge

RULES = ("longer", "evidence")


def rule_rows(benchmark: LoadedBenchmark, folder: Path, taken: Collection[str]) -> dict[str, Sequence[ItemResult]]:
    """The results of `RULES` without those named in `taken` and those that tie on every item; none for a benchmark with
    an item that is no pair with a case, or with rules of its own. Many results are in a temporary file in `folder`. No
    vote is stored. Each item is read once, in its first order."""
    items = benchmark.items
    if benchmark.aggregate is not aggregate_votes or any(i.case_id is None or len(i.candidates) != 2 for i in items):
        return {}
    rules = {name: make_judge(name, JudgeBuild("")) for name in RULES}
    found = {name: StoredResults(folder, items) for name in RULES if name not in taken}
    decided = set[str]()

    async def judge() -> None:
        with show_progress("judging by rules", len(items)) as one_done:
            for index, item in enumerate(items):
                request = benchmark.request(item, benchmark.presentation_orders(item)[0], 0)
                for rule in rules.values():
                    rule.check([request])
                for name, results in found.items():
                    async for output in rules[name].judge([request]):
                        vote = stored_vote(name, 0, output, benchmark.labels)
                        results.add(index, result_of(name, benchmark, item, [vote]))
                        decided.update([name] if preference(output.verdict) != "tie" else [])
                one_done()

    try:
        if found:
            run_sync(judge())
    except BadJudge:  # a prompt of the benchmark's own, or an empty case
        return {}
    return {
        name: list(results) if len(results) <= IN_MEMORY else results
        for name, results in found.items()
        if name in decided
    }
