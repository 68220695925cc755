"""One difference out of several seeds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judge_r1.evaluation.results import Outcome
from judge_r1.statistics.intervals import paired_difference_ci


@dataclass(frozen=True)
class SeedsDifference:
    """`delta` is the mean over seeds and pairs, `by_seed` that of each seed. `ci95` says what other cases could have
    given with these seeds; what other seeds could have given is seen in `by_seed`."""

    delta: float
    ci95: tuple[float, float]
    by_seed: tuple[float, ...]


def difference_over_seeds(
    after: Sequence[Sequence[Outcome]], before: Sequence[Sequence[Outcome]], measure: Callable[[Outcome], float]
) -> SeedsDifference:
    """After minus before: each pair's value averaged over the seeds, one row of outcomes a seed, then paired by pair.

    The interval is clustered by case. Raises DifferentPairs.
    """
    cases = {outcome.pair_id: outcome.case_id for row in [*after, *before] for outcome in row}
    values = [[{o.pair_id: measure(o) for o in row} for row in rows] for rows in (after, before)]
    means = [{i: sum(row[i] for row in rows) / len(rows) for i in rows[0]} for rows in values]
    by_seed = tuple(
        (sum(later.values()) - sum(earlier.values())) / len(earlier) for later, earlier in zip(*values, strict=True)
    )
    return SeedsDifference(sum(by_seed) / len(by_seed), paired_difference_ci(means[0], means[1], cases), by_seed)
