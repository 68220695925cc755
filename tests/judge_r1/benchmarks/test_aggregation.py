from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.benchmarks.aggregation import best_of_n, majority_vote, mean_correct, require_consistent
from judge_r1.benchmarks.base import LoadedBenchmark, both_orders, place_by_hash
from judge_r1.core.items import Item, Vote
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict

ITEM = Item(item_id="i", cluster_id="c", instruction="?", candidates=("x", "y"), gold="A")
Said = Sequence[tuple[tuple[int, ...], str | None]]
SAID = st.sampled_from(["A", "B", "tie", None])


def game(order: tuple[int, ...], winner: str | None, sample: int = 0) -> Vote:
    verdict = PairwiseVerdict(winner=winner) if winner else InvalidVerdict(reason="no_json")
    return Vote(order=order, sample=sample, member=0, verdict=verdict, ended="answer", searches=0)


@given(st.lists(st.tuples(st.sampled_from([(0, 1), (1, 0)]), SAID), min_size=1, max_size=7), st.sampled_from("AB"))
def test_majority_vote_equals_the_rule_of_judgebench(
    said: Sequence[tuple[tuple[int, ...], str | None]], gold: str
) -> None:
    """JudgeBench's rule as its own code has it: flip what was shown turned, +1 with the label, -1 against it."""
    item = ITEM.model_copy(update={"gold": gold})
    label = {"A": "A>B", "B": "B>A"}[gold]
    total = 0
    for order, winner in said:
        decision = {"A": "A>B", "B": "B>A"}.get(winner or "")
        if order == (1, 0) and decision:
            decision = decision[::-1]
        total += 0 if decision is None else 1 if decision == label else -1
    settled = majority_vote(item, [game(order, winner) for order, winner in said])
    assert settled.score == float(total > 0)
    assert isinstance(settled.verdict, InvalidVerdict) == all(winner is None for _, winner in said)


def test_inconsistent_votes_are_a_tie() -> None:
    torn = [game((0, 1), "A"), game((1, 0), "A")]
    assert majority_vote(ITEM, torn).score == 0
    assert majority_vote(ITEM.model_copy(update={"gold": "tie"}), torn).score == 1


@given(st.tuples(SAID, SAID), st.sampled_from(["A", "B", "tie"]))
def test_mean_correct_and_require_consistent(said: tuple[str | None, str | None], gold: str) -> None:
    item = ITEM.model_copy(update={"gold": gold})
    games = [game((0, 1), said[0]), game((1, 0), said[1])]
    turned = {"A": "B", "B": "A", "tie": "tie", None: None}[said[1]]
    right = [answer == gold for answer in (said[0], turned)]
    assert mean_correct(item, games).score == sum(right) / 2
    assert require_consistent(item, games).score == float(all(right))
    assert (
        mean_correct(item, games).verdict
        == require_consistent(item, games).verdict
        == majority_vote(item, games).verdict
    )


@given(st.lists(st.sampled_from(["A", "B", None]), min_size=3, max_size=3))
def test_best_of_n_must_win_every_pair(winners: list[str | None]) -> None:
    item = Item(item_id="i", cluster_id="c", instruction="?", candidates=("w", "x", "y", "z"), gold=2)
    games = [game((2, rival), winner) for rival, winner in zip((0, 1, 3), winners, strict=True)]
    assert best_of_n(item, games).score == float(winners == ["A", "A", "A"])


def test_orders_and_samples_override_the_benchmark() -> None:
    suite = LoadedBenchmark([ITEM])
    assert [ask.order for ask in suite.requests()] == [(0, 1)]
    assert [ask.order for ask in suite.requests(orders=2)] == [(0, 1), (1, 0)]
    both = LoadedBenchmark([ITEM], presentation_orders=both_orders)
    assert [ask.order for ask in both.requests(orders=1)] == [(0, 1)]
    assert [(ask.order, ask.sample) for ask in both.requests(samples=2)] == [
        ((0, 1), 0), ((0, 1), 1), ((1, 0), 0), ((1, 0), 1),
    ]  # fmt: skip
    turned = both.requests()[1].task
    assert (turned.reasoning_a, turned.reasoning_b) == ("y", "x")  # type: ignore[union-attr]


@pytest.mark.parametrize("count", [400])
def test_place_by_hash_is_balanced_and_deterministic(count: int) -> None:
    golds = [place_by_hash(f"item-{number}", "good", "bad") for number in range(count)]
    assert all(candidates["AB".index(gold)] == "good" for candidates, gold in golds)
    assert 0.4 < sum(gold == "A" for _, gold in golds) / count < 0.6
    assert golds == [place_by_hash(f"item-{number}", "good", "bad") for number in range(count)]
