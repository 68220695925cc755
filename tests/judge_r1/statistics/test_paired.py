"""Paired tests against SciPy, and their edge cases."""

import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from judge_r1.statistics.paired import equivalence, paired_t, sign_test, wilcoxon

HALVES = st.lists(st.integers(-8, 8).map(lambda steps: steps / 2), min_size=2, max_size=40)


@given(HALVES)
def test_t_equals_scipy(values: list[float]) -> None:
    assume(len(set(values)) > 1)
    found, wanted = paired_t(values), stats.ttest_1samp(values, 0)
    assert found.t == pytest.approx(wanted.statistic, rel=1e-9, abs=1e-9)
    assert found.p == pytest.approx(wanted.pvalue, rel=1e-6, abs=1e-12)
    assert found.p_less == pytest.approx(stats.ttest_1samp(values, 0, alternative="less").pvalue, rel=1e-6, abs=1e-12)
    assert found.df == len(values) - 1
    low, high = wanted.confidence_interval(0.95)
    assert found.ci95 == pytest.approx((low, high))


def test_the_critical_value_depends_on_the_number_of_documents() -> None:
    """The thesis uses 1.669 (df 64) for 30 documents, too."""
    assert stats.t.ppf(0.95, 64) == pytest.approx(1.669, abs=5e-4)
    assert stats.t.ppf(0.95, 29) == pytest.approx(1.699, abs=5e-4)
    values = [1.0, -1.0] * 15
    shift = 1.68 * float(stats.tstd(values)) / math.sqrt(30)
    assert paired_t([value - shift for value in values]).p_less > 0.05


def test_equal_differences_have_the_p_of_the_sign_test() -> None:
    assert paired_t([-0.5] * 5)[3:7] == (None, 4, 2 * 0.5**5, 0.5**5)
    assert paired_t([0.0] * 5)[3:7] == (None, 4, 1.0, 1.0)
    assert paired_t([0.5] * 5).p_less == 1.0
    with pytest.raises(ValueError, match="two finite"):
        paired_t([1.0])
    with pytest.raises(ValueError, match="two finite"):
        paired_t([1.0, math.nan])


@given(HALVES)
def test_sign_test_is_the_binomial_test(values: list[float]) -> None:
    below, other = sum(value < 0 for value in values), sum(value != 0 for value in values)
    wanted = stats.binomtest(below, other).pvalue if other else 1.0
    assert sign_test(values) == pytest.approx(wanted)


def test_wilcoxon_is_exact_without_ties_and_corrected_with_them() -> None:
    values = [-3.0, -1.5, 0.0, 2.0, -4.0, -0.5]
    assert wilcoxon(values) == pytest.approx(stats.wilcoxon([v for v in values if v], method="exact").pvalue)
    tied = [-0.5, -0.5, -1.0, 0.5, 0.0, -0.5]
    wanted = stats.wilcoxon([v for v in tied if v], method="asymptotic").pvalue
    assert wilcoxon(tied) == pytest.approx(wanted)
    assert wilcoxon([0.0, 0.0]) == 1.0


@given(HALVES, st.sampled_from([0.25, 0.5, 2.0]))
def test_equivalence_is_two_one_sided_tests(values: list[float], margin: float) -> None:
    assume(len(set(values)) > 1)
    above = stats.ttest_1samp(values, -margin, alternative="greater").pvalue
    below = stats.ttest_1samp(values, margin, alternative="less").pvalue
    assert equivalence(values, margin).p == pytest.approx(max(above, below), rel=1e-6, abs=1e-12)


def test_equivalence_has_its_error_rate_at_the_margin() -> None:
    draw = random.Random(0)
    claims = sum(equivalence([draw.gauss(0.25, 1) for _ in range(30)], 0.25).p < 0.05 for _ in range(2000))
    assert claims / 2000 < 0.06, "at the border of the margin it is claimed in 5 % of the cases at most"
    assert equivalence([0.25] * 4, 0.25).p == equivalence([-0.3] * 4, 0.25).p == 1.0
    assert equivalence([0.1] * 2, 0.25).p == 0.25, "two documents with equal differences prove nothing"
    assert equivalence([-0.1] * 5, 0.25).p == 0.5**5
    with pytest.raises(ValueError, match="margin"):
        equivalence([0.1, 0.2], 0)
