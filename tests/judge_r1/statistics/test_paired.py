"""Paired tests against SciPy, and their edge cases."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
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
    assert paired_t([0.5] * 5).ci95 is None, "p is .0625: an interval without 0 would contradict it"
    assert paired_t([0.5] * 6).ci95 == (0.5, 0.5)
    with pytest.raises(ValueError, match="two finite"):
        paired_t([1.0])
    with pytest.raises(ValueError, match="two finite"):
        paired_t([1.0, math.nan])


@given(HALVES)
def test_sign_test_is_the_binomial_test(values: list[float]) -> None:
    below, other = sum(value < 0 for value in values), sum(value != 0 for value in values)
    wanted = stats.binomtest(below, other).pvalue if other else 1.0
    assert sign_test(values) == pytest.approx(wanted)


def enumerated(values: list[float]) -> float:
    """Wilcoxon's p over all 2ⁿ signs of the mean ranks."""
    signed = [value for value in values if value]
    ranks = stats.rankdata(np.abs(signed))
    found = ranks[np.array(signed) > 0].sum()
    sums = [ranks @ signs for signs in itertools.product((0, 1), repeat=len(signed))]
    return min(1.0, 2 * min(np.mean([one <= found for one in sums]), np.mean([one >= found for one in sums])))


@given(st.lists(st.integers(-4, 4).map(lambda steps: steps / 2), min_size=2, max_size=10))
def test_wilcoxon_with_ties_and_zeros_equals_the_enumeration(values: list[float]) -> None:
    assert wilcoxon(values) == pytest.approx(enumerated(values) if any(values) else 1.0)


def test_wilcoxon_of_few_tied_differences_is_exact() -> None:
    assert wilcoxon([0.5] * 5) == 2 / 2**5, "the normal approximation gives .0253, which five signs cannot reach"
    assert wilcoxon([1.0] * 5 + [-0.5]) == 4 / 2**6
    assert wilcoxon([0.0, 0.0]) == 1.0
    assert wilcoxon([0.5] * 20) == 2 / 2**20


def test_rounding_errors_break_no_tie() -> None:
    tied, zero = [0.3 - 0.2, 0.2 - 0.1, 0.1], 0.1 + 0.2 - 0.3
    assert wilcoxon([*tied, *tied]) == wilcoxon([0.1] * 6)
    assert sign_test([zero] * 6) == 1.0


@given(st.permutations(range(1, 31)), st.lists(st.sampled_from([-1, 1]), min_size=30, max_size=30))
@settings(max_examples=20)
def test_wilcoxon_equals_scipy_without_ties_and_for_many(order: list[int], signs: list[int]) -> None:
    values = [rank * sign for rank, sign in zip(order, signs, strict=True)]
    assert wilcoxon(values) == pytest.approx(stats.wilcoxon(values, method="exact").pvalue)
    many = values * 7
    assert wilcoxon(many) == stats.wilcoxon(many, method="asymptotic").pvalue
    assert wilcoxon(many[:200]) == pytest.approx(stats.wilcoxon(many[:200], method="asymptotic").pvalue, abs=0.002)


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
