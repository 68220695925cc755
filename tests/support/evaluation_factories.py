"""Small, deterministic cases, pairs and judges for evaluation tests, built from the real records."""

import json
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.items import Item, ItemResult
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span, Trajectory, Turn
from judge_r1.core.verdicts import Evidence, Judgment
from judge_r1.episode.reward import with_reward
from judge_r1.evaluation.results import result_of
from judge_r1.evaluation.votes import StoredVote
from judge_r1.files.pair_set import PairSet
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.request import JudgeRequest

DOMAINS = ("academic", "legal", "medical")
SETS = ((1,), (2,), (3,), (4,), (5,), (6,), (2, 4), (1, 3, 5))


def toy_case(number: int) -> Case:
    facts = [f"Witness {n} of file {number} paid {20 + n} crowns." for n in range(6)]
    return Case.of(
        domain=DOMAINS[number % 3],
        context=" ".join(facts),
        decision=f"grant {number}",
        reference=f"1. Witness 0 paid 20 crowns.\n2. So claim {number} stands.",
        source="toy",
        license="CC0-1.0",
    )


def toy_pairs(cases: int = 6, sets: Sequence[tuple[int, ...]] = SETS) -> list[ReasoningPair]:
    """One pair per case and principle set; P2 and P4 flaws contradict the first fact of the context."""
    pairs = []
    for number in range(cases):
        case = toy_case(number)
        for variant, violated in enumerate(sets, 1):
            wrong = f"1. Witness 0 paid {90 + variant} crowns."
            flaws = tuple(
                Flaw(
                    principle=p,
                    operator=f"toy-{p}",
                    span=Span(start=3, end=len(wrong)),
                    context_spans=(Span(start=0, end=20),) if p in (2, 4) else (),
                )
                for p in violated
            )
            flawed = f"{wrong}\n2. So claim {number} stands."
            origin = Origin(teacher="toy", seed=0, flaws=flaws)
            pairs.append(ReasoningPair.of(case, flawed, variant=variant, origin=origin, seed=0))
    return pairs


def passage(pair: ReasoningPair, start: int = 0, end: int = 30, text: str | None = None) -> Evidence:
    return Evidence(case_id=pair.case_id, start=start, end=end, text=text or "x" * (end - start), score=1.5)


def toy_trajectory(
    pair: ReasoningPair,
    comparison: str | None,
    violated: Sequence[int] = (),
    *,
    shown: Sequence[Evidence] | None = None,
    ended: str | None = None,
    answer: str | None = None,
) -> Trajectory:
    """An episode that thinks, searches once if `shown` is given, and answers; `comparison` None is invalid."""
    turns = []
    if shown is not None:
        turns.append(Turn(text="<think>check</think><search>paid</search>", query="paid", passages=tuple(shown)))
    judgment = None
    if comparison is not None:
        judgment = Judgment(comparison=comparison, violated_principles=tuple(violated), evidence=tuple(shown or ()))
        answer = answer or json.dumps({"comparison": comparison, "violated_principles": list(violated)})
    turns.append(Turn(text=f"<think>so</think><answer>{answer or 'no idea'}</answer>"))
    return with_reward(
        Trajectory(
            prompt_ids=(1, 2),
            token_ids=(3, 4, 5),
            loss_mask=(1, 1, 0),
            logprobs=(-0.1, -1 / 3, 0.0),
            turns=tuple(turns),
            judgment=judgment,
            ended=ended or ("answer" if judgment else "rejected_no_json"),
        ),
        pair,
    )


def pair_result(judge: str, pair: ReasoningPair, trajectory: Trajectory) -> ItemResult:
    """The result of one vote on a pair, as the runner computes it."""
    item = Item(
        item_id=pair.pair_id, cluster_id=pair.case_id, group=pair.domain, case_id=pair.case_id, instruction="",
        candidates=(pair.reasoning_a, pair.reasoning_b), gold=pair.preferred,
    )  # fmt: skip
    benchmark = LoadedBenchmark([item], labels={pair.pair_id: pair})
    (request,) = benchmark.requests()
    stored = StoredVote(
        row=judge, item_id=item.item_id, order=request.order, sample=0, member=0, verdict=request.read(trajectory),
        trajectory=trajectory,
    )  # fmt: skip
    return result_of(judge, benchmark, item, [stored])


def digit(*parts: Any, sides: int) -> int:
    return int(content_hash(*parts), 16) % sides


class ScriptedJudge:
    """Correct on `skill` tenths of the pairs and invalid on about a tenth of the others, by the pair's id."""

    def __init__(self, name: str = "scripted", skill: int = 7, seconds: float = 0.0) -> None:
        self.name, self.skill, self.seconds = name, skill, seconds
        self.settings: dict[str, Any] = {"temperature": 0.0, "skill": skill}
        self.requested: list[str] = []

    def one(self, pair: ReasoningPair) -> Trajectory:
        shown = [passage(pair)] if digit(pair.pair_id, "search", sides=2) else None
        if digit(pair.pair_id, self.name, sides=10) < self.skill:
            return toy_trajectory(pair, pair.gold.comparison, pair.violated, shown=shown)
        if digit(pair.pair_id, self.name, "invalid", sides=10) == 0:
            return toy_trajectory(pair, None, shown=shown)
        return toy_trajectory(pair, "A<B" if pair.preferred == "A" else "A>B", (6,), shown=shown)

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        pass

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            self.requested.append(request.item.item_id)
            time.sleep(self.seconds)  # a test in a process of its own kills it meanwhile
            trajectory = self.one(PAIRS_BY_ID[request.item.item_id])
            yield JudgeOutput(request, trajectory, request.read(trajectory))


PAIRS_BY_ID = {pair.pair_id: pair for pair in toy_pairs()}


def toy_suite(pairs: Sequence[ReasoningPair]) -> LoadedBenchmark:
    """The benchmark of toy pairs with all of their cases."""
    return pair_benchmark(PairSet.of([toy_case(number) for number in range(6)], pairs))
