"""Times `judge-r1 rate`'s fit against evalica on the same votes, and compares the ratings.

    python -m scripts.bench.rating --judges 200 --items 500 --repeats 5

Each judge answers each item once. Both fit the same Bradley–Terry model of judges and items; ours also computes the
standard errors. Input as lists of names is converted within the time of each library that needs it. The sides take
turns, and `ours_by_evalica` is the ratio of times in a turn.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from judge_r1.statistics.rating.bradley_terry import ELO, fit
from judge_r1.statistics.rating.errors import rating_errors
from judge_r1.statistics.rating.separation import separate
from judge_r1.statistics.rating.votes import Floats, vote_arrays

TIGHT = 1e-12
"""Tolerance of evalica for the comparison of ratings; its own default is used for the times."""


def votes(judges: int, items: int, seed: int) -> tuple[list[str], list[str], Floats]:
    """Names of judge and item, and points, of each vote: abilities and difficulties have a standard deviation of 2."""
    random = np.random.default_rng(seed)
    ability, difficulty = random.normal(0, 2, judges), random.normal(0, 2, items)
    right = random.random((judges, items)) < 1 / (1 + np.exp(difficulty[None] - ability[:, None]))
    names = [f"j{judge:05d}" for judge in range(judges) for _ in range(items)]
    return names, [f"q{item:06d}" for item in range(items)] * judges, right.ravel().astype(np.float64)


def ours(judges: list[str], items: list[str], points: Floats) -> dict[str, float]:
    """Ratings with standard errors, from names to numbers."""
    found = fit(separate(vote_arrays(judges, items, points)).rated)
    rating_errors(found)
    return dict(zip(found.table.judges, found.judges.tolist(), strict=True))


def evalica(judges: list[str], items: list[str], points: Floats, **options: Any) -> dict[str, float]:
    """ln θ of the judges by evalica."""
    import evalica as package

    winners = [package.Winner.X if won else package.Winner.Y for won in points]
    scores = package.bradley_terry(judges, items, winners, **options).scores
    return {name: float(np.log(score)) for name, score in scores.items() if name.startswith("j")}


def interleaved(
    runs: Mapping[str, Callable[[], dict[str, float]]], repeats: int
) -> tuple[dict[str, list[float]], dict[str, dict[str, float]]]:
    """Seconds of each repeat, and the last result, of each side. The sides take turns, so both meet the same other
    load; the first turn is a warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    found: dict[str, dict[str, float]] = {}
    for repeat in range(repeats + 1):
        for name, run in runs.items():
            started = time.perf_counter()
            found[name] = run()
            if repeat:
                seconds[name].append(time.perf_counter() - started)
    return seconds, found


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and extremes."""
    found = {"median": statistics.median(values), "lowest": min(values), "highest": max(values)}
    return {name: round(value, 3) for name, value in found.items()}


def difference(one: dict[str, float], other: dict[str, float]) -> float:
    """The largest difference in Elo between two ratings of the same judges, each relative to its mean judge."""
    shared = sorted(one.keys() & other.keys())
    first, second = (np.array([side[name] for name in shared]) for side in (one, other))
    return float(ELO * np.abs((first - first.mean()) - (second - second.mean())).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", type=int, default=200)
    parser.add_argument("--items", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    data = votes(options.judges, options.items, 0)
    seconds, found = interleaved(
        {"ours": lambda: ours(*data), "evalica": lambda: evalica(*data)}, max(1, options.repeats)
    )
    exact = evalica(*data, tolerance=TIGHT, limit=100_000)
    report = {
        "votes": len(data[2]),
        "ours_seconds": spread(seconds["ours"]),
        "evalica_seconds": spread(seconds["evalica"]),
        "ours_by_evalica": spread([one / other for one, other in zip(*seconds.values(), strict=True)]),
        "largest_elo_difference": difference(found["ours"], exact),
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
