"""Bootstrap intervals over clusters, Wilson intervals, and binomial tests."""

import math
import random
import tracemalloc
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit
from scipy.stats import binom, binomtest

from judge_r1.statistics.intervals import (
    FEW_CLUSTERS,
    RESAMPLES,
    DifferentPairs,
    T,
    binomial_p,
    binomial_tail,
    clustered_mean_ci,
    gap_ci,
    paired_difference_ci,
    wilson_ci,
)

SAMPLES = st.lists(st.tuples(st.booleans().map(float), st.sampled_from("abcdef")), min_size=1, max_size=30)


def plain_bootstrap(values: list[float], clusters: list[str], seed: int) -> tuple[float, float]:
    """The same bootstrap, one resample and one cluster at a time."""
    names = sorted(set(clusters))
    generator = np.random.default_rng(seed)
    means = []
    for _ in range(2000):
        drawn = [names[i] for i in generator.integers(0, len(names), size=len(names))]
        sample = [v for name in drawn for v, c in zip(values, clusters, strict=True) if c == name]
        means.append(sum(sample) / len(sample))
    means.sort()
    quantiles = []
    for q in (0.025, 0.975):
        at = q * (len(means) - 1)
        low = math.floor(at)
        quantiles.append(means[low] + (at - low) * (means[low + 1] - means[low]))
    return quantiles[0], quantiles[1]


def test_the_bootstrap_equals_a_plain_one() -> None:
    values = [1.0, 0.0, 1.0, 1.0, 0.0, 0.5, 1.0] * 8
    clusters = [f"{name}{part}" for part in range(8) for name in ("a", "a", "b", "c", "c", "c", "d")]
    assert len(set(clusters)) == 32
    assert clustered_mean_ci(values, clusters, 3) == pytest.approx(plain_bootstrap(values, clusters, 3))


def test_the_quantiles_of_t_are_those_of_scipy() -> None:
    assert list(T) == pytest.approx([stdtrit(degrees, 0.975) for degrees in range(1, FEW_CLUSTERS - 1)], rel=1e-14)


def test_few_clusters_use_students_t_on_the_logit_scale() -> None:
    """Against plain sums, with the tabulated quantile of t with 3 degrees of freedom."""
    parts = {"a": [1.0, 0.0], "b": [1.0], "c": [1.0, 0.0, 0.5], "d": [1.0]}
    values, clusters = [v for part in parts.values() for v in part], [c for c, part in parts.items() for _ in part]
    mean = sum(values) / 7
    residuals = [sum(v - mean for v in part) for part in parts.values()]
    error = math.sqrt(4 / 3 * sum(r * r for r in residuals)) / 7
    center, reach = math.log(mean / (1 - mean)), 3.182446 * error / (mean * (1 - mean))
    ends = [1 / (1 + math.exp(-(center + sign * reach))) for sign in (-1, 1)]
    assert clustered_mean_ci(values, clusters) == pytest.approx(tuple(ends), abs=1e-6)


@settings(max_examples=40)
@given(SAMPLES, st.randoms(use_true_random=False))
def test_an_interval_contains_the_mean_and_does_not_depend_on_the_order(
    samples: list[tuple[float, str]], rng: object
) -> None:
    values, clusters = [v for v, _ in samples], [c for _, c in samples]
    low, high = clustered_mean_ci(values, clusters)
    assert 0 <= low <= sum(values) / len(values) <= high <= 1
    assert low < high
    rng.shuffle(samples)  # type: ignore[attr-defined]
    assert clustered_mean_ci([v for v, _ in samples], [c for _, c in samples]) == (low, high)


@pytest.mark.parametrize("clusters", [1, 2, 40])
def test_a_judge_that_is_always_right_gets_the_wilson_interval_of_its_cases(clusters: int) -> None:
    names = [str(i % clusters) for i in range(80)]
    assert clustered_mean_ci([1.0] * 80, names) == pytest.approx(wilson_ci(clusters, clusters))
    assert clustered_mean_ci([0.0] * 80, names) == pytest.approx(wilson_ci(0, clusters))


def test_a_paired_difference_uses_the_pairing() -> None:
    generator = np.random.default_rng(0)
    hard = generator.random(200) < 0.4
    a = {str(i): float(not h) for i, h in enumerate(hard)}
    b = {i: value if generator.random() < 0.95 else 0.0 for i, value in a.items()}
    clusters = {i: str(int(i) // 2) for i in a}
    low, high = paired_difference_ci(a, b, clusters)
    unpaired = clustered_mean_ci(list(a.values()), [clusters[i] for i in a])
    assert 0 < low < sum(a.values()) / 200 - sum(b.values()) / 200 < high
    assert high - low < unpaired[1] - unpaired[0]
    assert paired_difference_ci(b, a, clusters) == pytest.approx((-high, -low), abs=0.01)


def test_the_interval_of_identical_judges_contains_zero_and_has_width() -> None:
    a = {str(i): float(i % 3 == 0) for i in range(100)}
    low, high = paired_difference_ci(a, a, {i: i for i in a})
    assert low == -high
    assert 0 < high < 0.05


def test_different_pairs_are_refused() -> None:
    with pytest.raises(DifferentPairs, match="1 in one only, such as y"):
        paired_difference_ci({"x": 1.0}, {"x": 1.0, "y": 0.0}, {"x": "c", "y": "c"})


@pytest.mark.parametrize(("values", "clusters"), [([], []), ([1.0], []), ([1.5], ["a"]), ([float("nan")], ["a"])])
def test_values_without_an_interval_are_refused(values: list[float], clusters: list[str]) -> None:
    with pytest.raises(ValueError):
        clustered_mean_ci(values, clusters)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_equals_its_formula_and_binomial_p_scipys(count: tuple[int, int]) -> None:
    k, n = count
    z = NormalDist().inv_cdf(0.975)
    center, reach = (k + z**2 / 2) / (n + z**2), z / (n + z**2) * math.sqrt(k * (n - k) / n + z**2 / 4)
    assert wilson_ci(k, n) == pytest.approx((max(0, center - reach), min(1, center + reach)), abs=1e-9)
    assert binomial_p(k, n) == pytest.approx(binomtest(k, n).pvalue, rel=1e-9)


def test_binomial_p_accepts_large_counts_and_refuses_invalid_ones() -> None:
    assert binomial_p(52_495, 104_990) == 1.0
    assert binomial_p(51_000, 104_990) < 1e-15
    assert binomial_p(0, 0) == 1.0
    with pytest.raises(ValueError):
        binomial_p(3, 2)
    with pytest.raises(ValueError):
        wilson_ci(0, 0)


@given(st.integers(0, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(1e-6, 1 - 1e-6))
def test_the_binomial_tail_is_scipys(count: tuple[int, int], rate: float) -> None:
    k, n = count
    assert binomial_tail(k, n, rate) == pytest.approx(binom.cdf(k, n, rate), rel=1e-8, abs=1e-200)


def test_binomial_tail_refuses_invalid_arguments() -> None:
    for k, n, rate in ((3, 2, 0.5), (-1, 2, 0.5), (1, 2, 0.0), (1, 2, 1.0)):
        with pytest.raises(ValueError, match="no binomial tail"):
            binomial_tail(k, n, rate)


def test_gap_ci_is_a_bootstrap_over_whole_clusters() -> None:
    """Against loops over the same draws."""
    rng = random.Random(1)
    groups = [[(f"c{rng.randrange(40)}", float(rng.random() < p)) for _ in range(90)] for p in (0.8, 0.4)]
    names = sorted({cluster for group in groups for cluster, _ in group})
    gaps = []
    for drawn in np.random.default_rng(0).integers(0, len(names), size=(2000, len(names))):
        chosen = [names[number] for number in drawn]
        values = [[value for name in chosen for cluster, value in group if cluster == name] for group in groups]
        gaps.append(sum(values[0]) / len(values[0]) - sum(values[1]) / len(values[1]))
    assert gap_ci(*groups) == pytest.approx(tuple(np.quantile(gaps, [0.025, 0.975])))


def test_the_resamples_of_many_clusters_are_not_in_memory_together() -> None:
    rng = random.Random(2)
    groups = [[(f"c{n}", float(rng.random() < p)) for n in range(8000)] for p in (0.8, 0.4)]
    tracemalloc.start()
    try:
        low, high = gap_ci(*groups)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.36 < low < high < 0.44
    assert peak < 8 * RESAMPLES * 8000 / 2


def test_gap_ci_has_width_where_nothing_varies() -> None:
    one, other = [(f"a{n}", 1.0) for n in range(10)], [(f"b{n}", 0.0) for n in range(20)]
    low, high = gap_ci(one, other)
    reach = ((1 - wilson_ci(10, 10)[0]) ** 2 + wilson_ci(0, 20)[1] ** 2) ** 0.5
    assert high == 1
    assert low == pytest.approx(1 - reach)


def test_gap_ci_refuses_an_empty_group() -> None:
    with pytest.raises(ValueError, match="groups of 0 and 1"):
        gap_ci([], [("x", 1.0)])
