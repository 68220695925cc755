from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from judge_r1.benchmarks.aggregation import best_of_n, majority_vote
from judge_r1.benchmarks.base import LoadedBenchmark, both_orders
from judge_r1.core.items import Item, Vote
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict

ITEM = Item(item_id="i", cluster_id="c", instruction="?", candidates=("x", "y"), gold="A")
WINNERS = st.sampled_from(["A", "B", "tie", None])


def vote(order: tuple[int, ...], winner: str | None, sample: int = 0) -> Vote:
    verdict = PairwiseVerdict(winner=winner) if winner else InvalidVerdict(reason="no_json")
    return Vote(order=order, sample=sample, member=0, verdict=verdict, ended="answer", searches=0)


@given(st.lists(st.tuples(st.sampled_from([(0, 1), (1, 0)]), WINNERS), min_size=1, max_size=7), st.sampled_from("AB"))
def test_majority_vote_equals_the_rule_of_judgebench(
    shown: Sequence[tuple[tuple[int, ...], str | None]], gold: str
) -> None:
    """JudgeBench's own code flips decisions in the swapped order and adds +1 for the label, -1 against it."""
    item = ITEM.model_copy(update={"gold": gold})
    label = {"A": "A>B", "B": "B>A"}[gold]
    total = 0
    for order, winner in shown:
        decision = {"A": "A>B", "B": "B>A"}.get(winner or "")
        if order == (1, 0) and decision:
            decision = decision[::-1]
        total += 0 if decision is None else 1 if decision == label else -1
    aggregated = majority_vote(item, [vote(order, winner) for order, winner in shown])
    assert aggregated.score == float(total > 0)
    assert isinstance(aggregated.verdict, InvalidVerdict) == all(winner is None for _, winner in shown)


def test_inconsistent_votes_are_a_tie() -> None:
    inconsistent = [vote((0, 1), "A"), vote((1, 0), "A")]
    assert majority_vote(ITEM, inconsistent).score == 0
    assert majority_vote(ITEM.model_copy(update={"gold": "tie"}), inconsistent).score == 1


@given(st.lists(st.sampled_from(["A", "B", None]), min_size=3, max_size=3))
def test_best_of_n_must_win_every_pair(winners: list[str | None]) -> None:
    item = Item(item_id="i", cluster_id="c", instruction="?", candidates=("w", "x", "y", "z"), gold=2)
    votes = [vote((2, rival), winner) for rival, winner in zip((0, 1, 3), winners, strict=True)]
    assert best_of_n(item, votes).score == float(winners == ["A", "A", "A"])


def test_orders_and_samples_override_the_benchmark() -> None:
    benchmark = LoadedBenchmark([ITEM])
    assert [request.order for request in benchmark.requests()] == [(0, 1)]
    assert [request.order for request in benchmark.requests(orders=2)] == [(0, 1), (1, 0)]
    both = LoadedBenchmark([ITEM], presentation_orders=both_orders)
    assert [request.order for request in both.requests(orders=1)] == [(0, 1)]
    assert [(request.order, request.sample) for request in both.requests(samples=2)] == [
        ((0, 1), 0), ((0, 1), 1), ((1, 0), 0), ((1, 0), 1),
    ]  # fmt: skip
    swapped = both.requests()[1].task
    assert (swapped.reasoning_a, swapped.reasoning_b) == ("y", "x")  # type: ignore[union-attr]
