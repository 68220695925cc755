"""Label agreement against scikit-learn, and the undefined cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, matthews_corrcoef

from judge_r1.statistics.agreement import balanced_accuracy, cohens_kappa, matthews

LABELS = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("ABC")), min_size=1, max_size=40)


def columns(rows: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [a for a, _ in rows], [b for _, b in rows]


@given(LABELS)
def test_kappa_matches_scikit_learn(rows: list[tuple[str, str]]) -> None:
    one, other = columns(rows)
    kappa = cohens_kappa(one, other)
    if kappa is None:
        assert len({*one, *other}) == 1
    else:
        assert kappa == pytest.approx(cohen_kappa_score(one, other), abs=1e-12)
        assert cohens_kappa(other, one) == kappa


@given(LABELS)
def test_matthews_matches_scikit_learn_and_is_none_for_a_constant_side(rows: list[tuple[str, str]]) -> None:
    gold, predicted = columns(rows)
    found = matthews(gold, predicted)
    if len({*gold}) == 1 or len({*predicted}) == 1:
        assert found is None
    else:
        assert found == pytest.approx(matthews_corrcoef(gold, predicted), abs=1e-12)


@pytest.mark.filterwarnings("ignore:y_pred contains classes")
@given(LABELS)
def test_balanced_accuracy_is_that_of_scikit_learn_and_none_for_one_class(rows: list[tuple[str, str]]) -> None:
    gold, predicted = columns(rows)
    found = balanced_accuracy(gold, predicted)
    if len(set(gold)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(balanced_accuracy_score(gold, predicted))


def test_an_invalid_answer_counts_as_wrong_in_every_measure() -> None:
    gold = ["A", "A", "B", "B"]
    assert balanced_accuracy(gold, ["A", None, None, "B"]) == 0.5
    assert balanced_accuracy(gold, [None] * 4) == 0
    for measure in (balanced_accuracy, cohens_kappa, matthews):
        whole, partly = measure(gold, gold), measure(gold, ["A", None, "B", "B"])
        assert whole == 1.0
        assert partly is not None
        assert partly < whole


@pytest.mark.parametrize("measure", [cohens_kappa, matthews, balanced_accuracy])
def test_empty_input_and_unequal_lengths_are_refused(measure: object) -> None:
    for gold, predicted in (([], []), (["A"], ["A", "B"])):
        with pytest.raises(ValueError, match="have no agreement"):
            measure(gold, predicted)  # type: ignore[operator]
