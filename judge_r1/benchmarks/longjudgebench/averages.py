"""Averages over the columns of the paper's tables."""

from collections.abc import Mapping, Sequence

from judge_r1.benchmarks.longjudgebench.subset import COLUMNS

SURGE = ("Structure", "Content")


def averages(accuracies: Mapping[str, float | None]) -> dict[str, float | None]:
    """`avg` over all columns given, `avg_no_wp` without WP (the paper's two), and `avg_sets`, in which SurGE counts
    once, not twice. `columns` says how many of the seven there are: averages over other columns do not compare."""
    given = {column: value for column in COLUMNS if (value := accuracies.get(column)) is not None}
    halves = [given[column] for column in SURGE if column in given]
    sets = [value for column, value in given.items() if column not in SURGE]
    return {
        "columns": float(len(given)),
        "avg": _mean(list(given.values())),
        "avg_no_wp": _mean([value for column, value in given.items() if column != "WP"]),
        "avg_sets": _mean([*sets, *([_mean(halves)] if halves else [])]),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
