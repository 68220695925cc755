"""The rows of rules without a model, in every evaluation of pairs with a case: a judge is to be read beside them."""

from collections.abc import Collection, Sequence
from pathlib import Path

from judge_r1.benchmarks.aggregation import aggregate_votes
from judge_r1.benchmarks.base import LoadedBenchmark, Requests
from judge_r1.core.event_loop import run_sync
from judge_r1.core.items import ItemResult
from judge_r1.core.verdicts import preference
from judge_r1.evaluation.results import IN_MEMORY, StoredResults, result_of
from judge_r1.evaluation.runner import stored_vote
from judge_r1.judges.base import BadJudge, Judge, JudgeBuild
from judge_r1.judges.panel import make_judge

RULES = ("longer", "evidence")


def rule_rows(benchmark: LoadedBenchmark, folder: Path, taken: Collection[str]) -> dict[str, Sequence[ItemResult]]:
    """The results of `RULES` without those named in `taken` and those that tie on every item; none for a benchmark with
    an item that is no pair with a case, or with rules of its own. Many results are in a temporary file in `folder`. No
    vote is stored."""
    if benchmark.aggregate is not aggregate_votes or any(
        item.case_id is None or len(item.candidates) != 2 for item in benchmark.items
    ):
        return {}
    requests = benchmark.requests(orders=1)
    rules = {name: make_judge(name, JudgeBuild("")) for name in RULES}
    try:
        for rule in rules.values():
            rule.check(requests)
    except BadJudge:  # a prompt of the benchmark's own, or an empty case
        return {}
    found = {
        name: _results(name, rule, benchmark, requests, folder) for name, rule in rules.items() if name not in taken
    }
    return {name: results for name, results in found.items() if results}


def _results(
    name: str, rule: Judge, benchmark: LoadedBenchmark, requests: Requests, folder: Path
) -> Sequence[ItemResult]:
    found, decided = StoredResults(folder, benchmark.items), list[bool]()

    async def judge() -> None:
        async for output in rule.judge(requests):
            vote = stored_vote(name, 0, output, benchmark.labels)
            decided.append(preference(output.verdict) != "tie")
            index = requests.ids[vote.item_id]
            found.add(index, result_of(name, benchmark, benchmark.items[index], [vote]))

    run_sync(judge())
    if not any(decided):
        return []
    return list(found) if len(found) <= IN_MEMORY else found
