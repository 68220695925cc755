"""Promise 3: the reward and the headline metrics equal the paper's formulas. The tests derive them a second time, in
fractions, for every pair of principle sets, every comparison, and a missing answer."""

from fractions import Fraction
from itertools import chain, combinations

import pytest
from factories import make_case, make_pair
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.items import ItemResult, LabelResult, Vote
from judge_r1.core.records import ReasoningPair
from judge_r1.core.verdicts import InvalidVerdict, Judgment, preference
from judge_r1.episode.reward import combine, f1, precision, recall, score
from judge_r1.evaluation.metrics import accuracy, label_mean

NUMBERS = range(1, 7)
SETS = [frozenset(s) for s in chain.from_iterable(combinations(NUMBERS, size) for size in range(7))]
CASE = make_case()


def derived_f1(predicted: frozenset[int], gold: frozenset[int]) -> Fraction:
    """F1 = 2 TP / (2 TP + FP + FN), 0 where a set is empty: the same value as Eq. 6-7, computed differently."""
    hits = len(predicted & gold)
    if not predicted or not gold:
        return Fraction(0)
    return Fraction(2 * hits, 2 * hits + len(predicted - gold) + len(gold - predicted))


def derived_reward(right: bool, predicted: frozenset[int], gold: frozenset[int]) -> Fraction:
    """Eq. 5 gives ±2, Eq. 8 scales F1 to [-1, 1], and the sum plus 3 is divided by 6: two thirds for the comparison
    and one third of F1."""
    return Fraction(2 if right else 0, 3) + derived_f1(predicted, gold) / 3


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_reward_over_all_sets_and_comparisons(seed: int) -> None:
    judgments = [
        (comparison, predicted, Judgment(comparison=comparison, violated_principles=tuple(sorted(predicted))))
        for comparison in ("A>B", "A<B")
        for predicted in SETS
    ]
    seen = set()
    for gold in SETS[1:]:
        pair = make_pair(CASE, "1. ana paid 35.", sorted(gold), seed=seed)
        seen.add(pair.preferred)
        for comparison, predicted, judgment in judgments:
            right = comparison == ("A>B" if pair.reasoning_a == CASE.reference else "A<B")
            parts, shared = score(judgment, pair), len(predicted & gold)
            assert parts["r"] == pytest.approx(float(derived_reward(right, predicted, gold)), abs=1e-12)
            assert parts["F1"] == pytest.approx(float(derived_f1(predicted, gold)), abs=1e-12)
            assert parts["R1"] == (2 if right else -2)
            assert parts["R2"] == pytest.approx(float(2 * derived_f1(predicted, gold) - 1), abs=1e-12)
            assert parts["precision"] == pytest.approx(shared / max(1, len(predicted)))
            assert parts["recall"] == pytest.approx(shared / len(gold))
            assert parts["valid"] == 1
            assert 0 <= parts["r"] <= 1
            assert (parts["r"] == 1) == (right and predicted == gold)
    assert seen == {"A", "B"}


def test_a_missing_answer_has_the_lowest_components_and_reward_0() -> None:
    parts = score(None, make_pair(CASE))
    assert parts == {"r": 0, "R1": -2, "R2": -1, "F1": 0, "precision": 0, "recall": 0, "valid": 0}
    assert combine(parts["R1"], parts["R2"]) == 0
    assert combine(2, 1) == 1


def test_a_completely_wrong_answer_scores_0_and_is_valid() -> None:
    pair = make_pair(CASE)
    wrong = Judgment(comparison="A<B" if pair.preferred == "A" else "A>B", violated_principles=(1,))
    assert score(wrong, pair)["r"] == 0
    assert score(wrong, pair)["valid"] == 1


LABELS = st.lists(st.integers(1, 6), max_size=8)


@given(LABELS, LABELS)
def test_scores_ignore_order_and_repeats(predicted: list[int], gold: list[int]) -> None:
    assert f1(predicted, gold) == pytest.approx(float(derived_f1(frozenset(predicted), frozenset(gold))))
    assert f1(predicted, gold) == f1(gold, predicted)
    assert precision(predicted, gold) == recall(gold, predicted)


def judged(pair: ReasoningPair, judgment: Judgment | None) -> ItemResult:
    verdict = judgment.verdict if judgment else InvalidVerdict(reason="no_answer")
    return ItemResult(
        judge="test",
        item_id=pair.pair_id,
        cluster_id=pair.case_id,
        group=pair.domain,
        gold=pair.preferred,
        verdict=verdict,
        score=float(preference(verdict) == pair.preferred),
        votes=(Vote(order=(0, 1), sample=0, member=0, verdict=verdict, ended="answer", searches=0),),
        labels=LabelResult(
            kind=pair.kind, violated=pair.violated, predicted=judgment and judgment.violated_principles,
            valid_strict=None, valid_tolerant=None, evidence_hit=None, reward=score(judgment, pair),
        ),
    )  # fmt: skip


ANSWERS = st.none() | st.tuples(st.sampled_from(["A>B", "A<B"]), st.sets(st.integers(1, 6)))


@given(st.lists(st.tuples(ANSWERS, st.sets(st.integers(1, 6), min_size=1)), min_size=1, max_size=8))
def test_table_metrics_agree_with_the_reward_and_with_sklearn(
    answers: list[tuple[tuple[str, set[int]] | None, set[int]]],
) -> None:
    """Accuracy is the share of R1 = 2, and label F1 is the mean F1 of the reward. Both count invalid answers as 0."""
    from sklearn.metrics import f1_score
    from sklearn.preprocessing import MultiLabelBinarizer

    outcomes = []
    for answer, gold in answers:
        judgment = answer and Judgment.model_validate(
            {"comparison": answer[0], "violated_principles": tuple(sorted(answer[1]))}
        )
        outcomes.append(judged(make_pair(CASE, "1. ana paid 35.", sorted(gold)), judgment))
    rewards = [outcome.labels.reward for outcome in outcomes]
    assert accuracy(outcomes) == pytest.approx(sum(r["R1"] == 2 for r in rewards) / len(rewards))
    assert label_mean(outcomes).f1 == pytest.approx(sum(r["F1"] for r in rewards) / len(rewards))
    binary = MultiLabelBinarizer(classes=list(NUMBERS))
    truth = binary.fit_transform([gold for _, gold in answers])
    named = binary.transform([answer[1] if answer else set() for answer, _ in answers])
    oracle = f1_score(truth, named, average="samples", zero_division=0)
    assert label_mean(outcomes).f1 == pytest.approx(oracle)
