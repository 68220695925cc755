import random

import numpy as np
import pytest

from judge_r1.statistics.intervals import gap_ci, wilson_ci


def test_it_is_a_bootstrap_over_whole_clusters() -> None:
    """Against loops over the same draws."""
    rng = random.Random(1)
    groups = [[(f"c{rng.randrange(9)}", float(rng.random() < p)) for _ in range(30)] for p in (0.8, 0.4)]
    names = sorted({cluster for group in groups for cluster, _ in group})
    gaps = []
    for drawn in np.random.default_rng(0).integers(0, len(names), size=(2000, len(names))):
        chosen = [names[number] for number in drawn]
        values = [[value for name in chosen for cluster, value in group if cluster == name] for group in groups]
        gaps.append(sum(values[0]) / len(values[0]) - sum(values[1]) / len(values[1]))
    assert gap_ci(*groups) == pytest.approx(tuple(np.quantile(gaps, [0.025, 0.975])))


def test_where_nothing_varies_it_claims_no_certainty() -> None:
    one, other = [(f"a{n}", 1.0) for n in range(10)], [(f"b{n}", 0.0) for n in range(20)]
    low, high = gap_ci(one, other)
    reach = ((1 - wilson_ci(10, 10)[0]) ** 2 + wilson_ci(0, 20)[1] ** 2) ** 0.5
    assert high == 1
    assert low == pytest.approx(1 - reach)


def test_it_covers_what_is_true() -> None:
    """200 sets of 40 clusters, each with two pairs of each class and a lean that the cluster shares: the true gap of
    0.2 is in about 95 % of the intervals (a bootstrap over 40 clusters has a little less)."""
    rng, inside = np.random.default_rng(5), 0
    for _ in range(200):
        groups: tuple[list[tuple[str, float]], list[tuple[str, float]]] = ([], [])
        for cluster in range(40):
            lean = rng.normal(0, 0.15)
            for _ in range(2):
                groups[0].append((str(cluster), float(rng.random() < np.clip(0.7 + lean, 0, 1))))
                groups[1].append((str(cluster), float(rng.random() < np.clip(0.5 - lean, 0, 1))))
        low, high = gap_ci(*groups)
        inside += low <= 0.2 <= high
    assert 178 <= inside <= 199


def test_an_empty_group_has_no_difference() -> None:
    with pytest.raises(ValueError, match="groups of 0 and 1"):
        gap_ci([], [("x", 1.0)])
