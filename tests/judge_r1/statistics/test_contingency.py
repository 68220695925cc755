"""Agreement from contingency tables, on cases computed with scikit-learn 1.9.1, statsmodels 0.15.0 and irrCAC 0.4.4."""

import numpy as np
import pytest
from label_factories import HUMAN, JUDGE
from scipy.stats import norm
from sklearn.metrics import cohen_kappa_score

from judge_r1.statistics.contingency import (
    ac1,
    agreement,
    balanced,
    bootstrapped,
    kappa,
    matthews_of,
    perfect_ci,
    recalls,
    resampled,
    tables_by_cluster,
    value_weights,
    weighted_kappa,
)

SCALE = [1, 2, 3, 4, 5]


def own_clusters(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def test_a_judge_that_always_passes_has_no_kappa_beyond_chance_and_no_matthews() -> None:
    table = np.array([[90.0, 0], [10, 0]])
    assert agreement(table) == pytest.approx(0.9)
    assert kappa(table) == pytest.approx(0)
    assert ac1(table, 2) == pytest.approx(0.8895028, abs=1e-6)
    assert np.isnan(matthews_of(table))  # scikit-learn says 0


def test_two_classes() -> None:
    table = np.array([[70.0, 10], [5, 15]])
    assert [float(f(table)) for f in (kappa, lambda t: ac1(t, 2), matthews_of)] == pytest.approx(
        [0.5714286, 0.7696737, 0.5773503], abs=1e-6
    )
    assert recalls(table).tolist() == pytest.approx([0.875, 0.75])
    assert balanced(table) == pytest.approx(0.8125)


def test_an_abstention_is_a_label_of_its_own() -> None:
    table = np.array([[28.0, 4, 3, 1], [5, 22, 2, 1], [4, 3, 6, 1], [0, 0, 0, 0]])
    assert [float(agreement(table)), float(kappa(table))] == pytest.approx([0.7, 0.5252226], abs=1e-6)
    answered = table[:3, :3]
    assert [float(agreement(answered)), float(kappa(answered))] == pytest.approx([0.7272727, 0.5569863], abs=1e-6)


def test_weighted_kappa_goes_by_value_also_where_levels_are_unused() -> None:
    table = tables_by_cluster(HUMAN, JUDGE, own_clusters(20), SCALE).sum(0)
    found = [float(weighted_kappa(table, value_weights(SCALE, power))) for power in (1, 2)]
    assert [float(kappa(table)), *found] == pytest.approx([0.6153846, 0.7486034, 0.8173913], abs=1e-6)
    by_index = cohen_kappa_score(HUMAN, JUDGE, weights="linear")  # without labels: weights by index
    assert by_index == pytest.approx(0.6987952, abs=1e-6)
    assert found[0] == pytest.approx(cohen_kappa_score(HUMAN, JUDGE, weights="linear", labels=SCALE))


def test_perfect_agreement_has_an_interval_below_one() -> None:
    labels = ["pass"] * 30 + ["fail"] * 10
    tables = tables_by_cluster(labels, labels, own_clusters(40), ["pass", "fail"])
    assert bootstrapped(resampled(tables), kappa, 40) == ((1.0, 1.0), 1.0, 1.0)
    assert perfect_ci(tables, kappa) == pytest.approx((0.7663424, 1.0), abs=1e-6)
    one_class = tables_by_cluster(["pass"] * 5, ["pass"] * 5, own_clusters(5), ["pass", "fail"])
    assert perfect_ci(one_class, kappa) is None


def test_one_class_has_no_recall_of_the_other_and_no_interval_of_kappa() -> None:
    gold, verdicts = ["pass"] * 50, ["pass"] * 48 + ["fail"] * 2
    tables = tables_by_cluster(gold, verdicts, own_clusters(50), ["pass", "fail"])
    assert recalls(tables.sum(0)) == pytest.approx([0.96, np.nan], nan_ok=True)
    assert np.isnan(balanced(tables.sum(0)))
    assert bootstrapped(resampled(tables), balanced, 50) is None


def test_an_interval_needs_several_clusters_and_does_not_depend_on_the_order() -> None:
    gold, verdicts = ["a", "b"] * 20, ["a", "b", "b", "b"] * 10
    clusters = [str(number // 2) for number in range(40)]
    tables = tables_by_cluster(gold, verdicts, clusters, "ab")
    found = bootstrapped(resampled(tables), kappa, len(tables))
    assert found is not None
    assert found.ci95[0] <= found.lower < float(kappa(tables.sum(0))) < found.upper <= found.ci95[1]
    turned = tables_by_cluster(gold[::-1], verdicts[::-1], clusters[::-1], "ab")
    assert bootstrapped(resampled(turned), kappa, len(turned)) == found
    assert bootstrapped(resampled(tables_by_cluster(gold, verdicts, ["one"] * 40, "ab")), kappa, 1) is None


def test_the_interval_of_few_clusters_is_expanded() -> None:
    """The plain percentiles of few clusters are too narrow (Hesterberg, 2015)."""
    gold, verdicts = ["a", "b"] * 30, ["a", "b", "b", "b", "a"] * 12
    tables = tables_by_cluster(gold, verdicts, [str(number // 5) for number in range(60)], "ab")
    draws = resampled(tables)
    few, many = bootstrapped(draws, kappa, 12), bootstrapped(draws, kappa, 30)
    assert draws is not None
    assert few is not None
    assert many is not None
    assert many.ci95 == pytest.approx(np.quantile(kappa(draws), [0.025, 0.975]))
    # -2.201 is the 2.5 % point of t with 11 degrees of freedom
    level = float(norm.cdf(-2.200985 * (12 / 11) ** 0.5))
    assert few.ci95 == pytest.approx(np.quantile(kappa(draws), [level, 1 - level]), abs=1e-6)
    assert few.ci95[0] < many.ci95[0] < many.ci95[1] < few.ci95[1]


def test_unequal_lengths_are_errors() -> None:
    with pytest.raises(ValueError, match="no agreement"):
        tables_by_cluster(["a"], ["a", "b"], ["1"], "ab")
