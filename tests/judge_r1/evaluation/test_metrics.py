"""Metrics against plain counting and scikit-learn."""

import pytest
from evaluation_factories import ScriptedJudge, pair_result, passage, toy_pairs, toy_trajectory
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from judge_r1.core.items import ItemResult
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, preference
from judge_r1.episode import reward
from judge_r1.evaluation import metrics

LABELS = st.sets(st.integers(1, 6))
GOLD = st.sets(st.integers(1, 6), min_size=1)
PAIR = toy_pairs(1, [(1,)])[0]
INVALID = InvalidVerdict(reason="rejected_no_json")
TEMPLATE = pair_result("row", PAIR, toy_trajectory(PAIR, "A>B"))


@st.composite
def outcomes_of(draw: st.DrawFn, min_size: int = 1) -> list[ItemResult]:
    """Outcomes of any shape, invalid ones among them."""
    made = []
    for number in range(draw(st.integers(min_size, 12))):
        violated, named = draw(GOLD), draw(LABELS)
        comparison = draw(st.sampled_from(["A>B", "A<B", None]))
        gold = draw(st.sampled_from("AB"))
        verdict = PairwiseVerdict(winner="A" if comparison == "A>B" else "B") if comparison else INVALID
        labels = TEMPLATE.labels.model_copy(
            update={
                "kind": "single" if len(violated) == 1 else "multi",
                "violated": tuple(sorted(violated)),
                "predicted": None if comparison is None else tuple(sorted(named)),
                "evidence_hit": draw(st.sampled_from([True, False, None])),
            }
        )
        update = {
            "item_id": str(number),
            "cluster_id": draw(st.sampled_from("xyz")),
            "group": draw(st.sampled_from(["law", "medicine"])),
            "gold": gold,
            "verdict": verdict,
            "score": float(preference(verdict) == gold),
            "votes": (TEMPLATE.votes[0].model_copy(update={"searches": draw(st.integers(0, 3))}),),
            "labels": labels,
        }
        made.append(TEMPLATE.model_copy(update=update))
    return made


def is_right(o: ItemResult) -> bool:
    return o.gold == preference(o.verdict)


@given(LABELS, LABELS)
def test_label_scores_equal_a_second_derivation_and_the_reward(named: set[int], gold: set[int]) -> None:
    scores = metrics.label_scores(named, gold)
    both = sum(p in named and p in gold for p in range(1, 7))
    assert scores.precision == (both / len(named) if named else 0)
    assert scores.recall == (both / len(gold) if gold else 0)
    assert scores.f1 == pytest.approx(2 * both / (len(named) + len(gold)) if named or gold else 0)
    assert tuple(scores) == (reward.precision(named, gold), reward.recall(named, gold), reward.f1(named, gold))


@settings(max_examples=50)
@given(outcomes_of())
def test_accuracy_and_slices_equal_plain_counting(outcomes: list[ItemResult]) -> None:
    right = [o for o in outcomes if is_right(o)]
    assert metrics.accuracy(outcomes) == len(right) / len(outcomes)
    for domain, part in metrics.by_group(outcomes).items():
        total = sum(o.group == domain for o in outcomes)
        assert metrics.accuracy(part) == sum(o.group == domain for o in right) / total
    for single in (False, True):
        by_principle = metrics.by_principle(outcomes, single=single)
        for p in range(1, 7):
            all_of_p = [o for o in outcomes if (o.labels.violated == (p,) if single else p in o.labels.violated)]
            assert (p in by_principle) == bool(all_of_p)
            if all_of_p:
                assert metrics.accuracy(by_principle[p]) == sum(map(is_right, all_of_p)) / len(all_of_p)


def test_a_multi_violation_pair_counts_under_each_principle_but_not_alone() -> None:
    pairs = toy_pairs(1, [(2,), (2, 4)])
    outcomes = [pair_result("row", pair, toy_trajectory(pair, pair.gold.comparison)) for pair in pairs]
    assert {p: len(part) for p, part in metrics.by_principle(outcomes).items()} == {2: 2, 4: 1}
    assert {p: len(part) for p, part in metrics.by_principle(outcomes, single=True).items()} == {2: 1}


@settings(max_examples=50)
@given(outcomes_of())
def test_pooled_label_scores_agree_with_scikit_learn(outcomes: list[ItemResult]) -> None:
    present = [
        p for p in range(1, 7) if any(p in o.labels.violated or p in (o.labels.predicted or ()) for o in outcomes)
    ]
    truth = [[int(p in o.labels.violated) for p in present] for o in outcomes]
    named = [[int(p in (o.labels.predicted or ())) for p in present] for o in outcomes]
    if len(present) < 2:  # scikit-learn takes one column for a binary task
        return
    for average, mine in (
        ("micro", metrics.label_micro(outcomes)),
        ("macro", metrics.label_macro(outcomes)),
        ("samples", metrics.label_mean(outcomes)),
    ):
        theirs = precision_recall_fscore_support(truth, named, average=average, zero_division=0)[:3]
        assert tuple(mine) == pytest.approx(tuple(float(v) for v in theirs))


@settings(max_examples=50)
@given(outcomes_of())
def test_rates_are_counts(outcomes: list[ItemResult]) -> None:
    n = len(outcomes)
    assert metrics.valid_rate(outcomes) == sum(o.verdict != INVALID for o in outcomes) / n
    assert metrics.searches(outcomes) == sum(o.votes[0].searches for o in outcomes) / n
    hits = [o.labels.evidence_hit for o in outcomes if o.labels.evidence_hit is not None]
    assert metrics.evidence_hit_rate(outcomes) == (hits.count(True) / len(hits) if hits else None)
    said = [o.verdict.winner for o in outcomes if o.verdict != INVALID]
    assert metrics.position_share(outcomes) == (said.count("A") / len(said) if said else None)
    for p in range(1, 7):
        assert metrics.named_rate(outcomes, p) == sum(p in (o.labels.predicted or ()) for o in outcomes) / n


def test_valid_votes_are_counted_where_items_have_several() -> None:
    (vote,) = TEMPLATE.votes
    two = TEMPLATE.model_copy(update={"votes": (vote, vote.model_copy(update={"verdict": INVALID}))})
    assert metrics.valid_vote_rate([TEMPLATE, TEMPLATE]) is None
    assert metrics.valid_vote_rate([TEMPLATE, two]) == 2 / 3
    assert metrics.valid_rate([TEMPLATE, two]) == 1.0


def test_parser_rates_need_every_result_known() -> None:
    pair = toy_pairs(1, [(2,)])[0]
    written = [pair_result("row", pair, toy_trajectory(pair, c)) for c in ("A>B", None)]
    silent = pair_result("row", pair, toy_trajectory(pair, "A>B").model_copy(update={"turns": ()}))
    assert metrics.parser_rates(written) == (0.5, 0.5)
    assert metrics.parser_rates([*written, silent]) == (None, None)


def test_an_invalid_answer_scores_no_labels() -> None:
    pair = toy_pairs(1, [(2,)])[0]
    right = pair_result("row", pair, toy_trajectory(pair, "A>B", (2,), shown=[passage(pair)]))
    invalid = pair_result("row", pair, toy_trajectory(pair, None))
    assert metrics.label_mean([right, invalid]) == (0.5, 0.5, 0.5)


def test_mean_reward_is_the_mean_of_the_trajectories() -> None:
    pairs = toy_pairs(3)
    judge = ScriptedJudge()
    trajectories = [judge.one(pair) for pair in pairs]
    outcomes = [pair_result("row", pair, t) for pair, t in zip(pairs, trajectories, strict=True)]
    expected = sum(t.reward["r"] for t in trajectories if t.reward) / len(pairs)
    assert metrics.mean_reward(outcomes) == pytest.approx(expected)
    assert metrics.ended_counts(outcomes)["answer"] == sum(t.judgment is not None for t in trajectories)


@pytest.mark.parametrize(
    "measure", [metrics.accuracy, metrics.label_mean, metrics.label_micro, metrics.label_macro, metrics.valid_rate]
)
def test_metrics_of_no_results_raise(measure: object) -> None:
    with pytest.raises(ValueError, match="no results"):
        measure([])  # type: ignore[operator]
