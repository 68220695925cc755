"""Paired tests against plain enumeration and SciPy, and their false-alarm rate for clustered items."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from judge_r1.statistics import significance
from judge_r1.statistics.intervals import DifferentPairs
from judge_r1.statistics.significance import flip_ci, holm, permutation, sign_flips

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from("abcdefgh")),
    min_size=1,
    max_size=20,
)
Row = tuple[float, float, str]


def mappings(rows: list[Row]) -> tuple[dict[str, float], dict[str, float], dict[str, str]]:
    return (
        {str(i): a for i, (a, _, _) in enumerate(rows)},
        {str(i): b for i, (_, b, _) in enumerate(rows)},
        {str(i): c for i, (_, _, c) in enumerate(rows)},
    )


@given(ROWS)
def test_the_exact_p_is_the_share_of_all_swaps_of_whole_clusters(rows: list[Row]) -> None:
    found = permutation(*mappings(rows))
    names = sorted({c for _, _, c in rows})
    observed = abs(sum(a - b for a, b, _ in rows))
    hits = 0
    for signs in product((1, -1), repeat=len(names)):
        sign = dict(zip(names, signs, strict=True))
        hits += abs(sum(sign[c] * (a - b) for a, b, c in rows)) >= observed - 1e-9
    assert found.exact
    assert found.p == pytest.approx(hits / 2 ** len(names))
    assert found.difference == pytest.approx(sum(a - b for a, b, _ in rows) / len(rows))
    assert found.clusters == len(names)


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=2, max_size=9))
def test_without_clusters_the_p_matches_scipys_paired_permutation_test(differences: list[float]) -> None:
    items = [str(i) for i in range(len(differences))]
    found = permutation(dict(zip(items, differences, strict=True)), dict.fromkeys(items, 0.0), {i: i for i in items})
    expected = permutation_test(
        (differences, [0.0] * len(differences)),
        lambda a, b: abs(float(np.sum(a) - np.sum(b))),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
    )
    assert found.p == pytest.approx(expected.pvalue)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_does_not_matter_and_swapping_the_judges_flips_the_sign(rows: list[Row], rng: object) -> None:
    a, b, clusters = mappings(rows)
    found = permutation(a, b, clusters)
    keys = list(a)
    rng.shuffle(keys)  # type: ignore[attr-defined]
    assert permutation({k: a[k] for k in keys}, b, {k: clusters[k] for k in reversed(keys)}) == found
    swapped = permutation(b, a, clusters)
    assert (swapped.difference, swapped.p) == (pytest.approx(-found.difference), pytest.approx(found.p))


def test_sampled_signs_approximate_the_exact_p_and_depend_only_on_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(5)
    rows = [(float(generator.random() < 0.7), float(generator.random() < 0.5), str(i % 18)) for i in range(120)]
    exact = permutation(*mappings(rows))
    assert exact.exact
    assert 0.001 < exact.p < 0.5
    monkeypatch.setattr(significance, "EXACT_CLUSTERS", 5)
    drawn = permutation(*mappings(rows), seed=1)
    assert not drawn.exact
    assert drawn.p == permutation(*mappings(rows), seed=1).p
    assert drawn.p != permutation(*mappings(rows), seed=2).p
    noise = 4 * (exact.p * (1 - exact.p) / significance.DRAWS) ** 0.5
    assert drawn.p == pytest.approx(exact.p, abs=noise)
    monkeypatch.setattr(significance, "BATCH", 997)  # many small batches
    assert permutation(*mappings(rows), seed=1).p == pytest.approx(exact.p, abs=noise)


def test_differences_that_cancel_up_to_rounding_count_as_zero() -> None:
    rows = [(0.1, 0.0, "a"), (0.2, 0.0, "a"), (0.0, 0.3, "a"), (0.5, 0.5, "b")]
    found = permutation(*mappings(rows))
    assert (found.p, found.differing, found.clusters) == (1.0, 0, 2)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=18))
def test_with_a_cluster_for_each_item_it_is_mcnemars_test(rows: list[tuple[bool, bool]]) -> None:
    """McNemar's exact test: the binomial test of the items that only one judge has right."""
    found = permutation(*mappings([(float(x), float(y), str(i)) for i, (x, y) in enumerate(rows)]))
    only_a, differing = sum(x and not y for x, y in rows), sum(x != y for x, y in rows)
    assert found.differing == differing
    assert found.p == pytest.approx(binomtest(only_a, differing).pvalue if differing else 1.0)


def test_judges_of_different_items_are_refused() -> None:
    with pytest.raises(DifferentPairs, match="1 in one only, such as y"):
        permutation({"x": 1.0, "y": 1.0}, {"x": 1.0}, {"x": "c", "y": "d"})
    with pytest.raises(ValueError, match="no items"):
        permutation({}, {}, {})


def plain_holm(ps: list[float]) -> list[float]:
    """The smallest α at which the step-down procedure, as Holm describes it, rejects each hypothesis."""

    def rejected(alpha: float) -> set[int]:
        order = sorted(range(len(ps)), key=lambda i: ps[i])
        out: set[int] = set()
        for step, i in enumerate(order):
            if ps[i] > alpha / (len(ps) - step):
                break
            out.add(i)
        return out

    levels = sorted({min(1.0, k * p) for p in ps for k in range(1, len(ps) + 1)} | {1.0})
    return [next((level for level in levels if i in rejected(level * (1 + 1e-12))), 1.0) for i in range(len(ps))]


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1).map(lambda p: round(p, 4)), max_size=8))
def test_holm_is_the_smallest_level_at_which_its_procedure_rejects(ps: list[float]) -> None:
    adjusted = holm(dict(enumerate(ps)))
    assert list(adjusted) == list(range(len(ps)))
    assert list(adjusted.values()) == pytest.approx(plain_holm(ps))


def test_holm_of_a_small_example() -> None:
    assert holm({"x": 0.01, "y": 0.04, "z": 0.03}) == pytest.approx({"x": 0.03, "y": 0.06, "z": 0.06})
    with pytest.raises(ValueError, match="not a p value"):
        holm({"x": 1.5})


def test_the_interval_of_a_difference_holds_0_where_p_is_at_least_05() -> None:
    generator = np.random.default_rng(0)
    covered = 0
    for _ in range(60):
        x = generator.choice([-1.0, 0, 1], p=[0.1, 0.75, 0.15], size=60)
        clusters = [str(number // 2) for number in range(60)]
        test = sign_flips(x, clusters)
        low, high = flip_ci(x, clusters, test)
        assert (low <= 0 <= high) == (test.p >= 0.05)
        assert low <= test.difference <= high
        covered += low <= 0.05 <= high
    assert covered >= 52


@pytest.mark.parametrize(
    ("clusters", "low", "high"),
    [([str(n) for n in range(80)], -0.1667, 0), ([*"aaabbbccc", *map(str, range(71))], -0.2045, 0.05)],
)
def test_the_interval_of_nine_worse_and_two_better_answers(clusters: list[str], low: float, high: float) -> None:
    x = np.array([-1.0] * 9 + [1.0] * 2 + [0.0] * 69)  # the bootstrap gives [-.175, -.0125] at p = .065
    found = flip_ci(x, clusters, sign_flips(x, clusters))
    assert found == pytest.approx((low, high), abs=1e-3)


def test_the_interval_of_equal_and_of_many_differences() -> None:
    same = np.zeros(30)
    clusters = [str(n) for n in range(30)]
    low, high = flip_ci(same, clusters, sign_flips(same, clusters))
    assert low == pytest.approx(-high)
    many = np.tile([1.0, 0, 0, -1, 1], 100)
    own = [str(n) for n in range(500)]
    assert flip_ci(many, own, sign_flips(many, own)) == pytest.approx((0.134, 0.266), abs=2e-3)
    nearly = np.array([0.0] + [1.0] * 499)  # Student's t alone ends at 1.002
    assert flip_ci(nearly, own, sign_flips(nearly, own))[1] == 1
