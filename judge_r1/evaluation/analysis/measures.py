"""Means with their clustered 95 % intervals, as numbers and as cells of a table."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from judge_r1.evaluation.report.tables import NONE, Estimate
from judge_r1.statistics.intervals import clustered_mean_ci


def measured(values: Sequence[float], clusters: Sequence[str]) -> dict[str, Any] | None:
    """The mean and its interval; None without values."""
    return {"value": fmean(values), "ci95": list(clustered_mean_ci(values, clusters))} if values else None


def measured_cell(part: Mapping[str, Any] | None, *, signed: bool = False) -> str | Estimate:
    """A part made by `measured` as a cell; `signed` is for differences."""
    if part is None:
        return NONE
    low, high = part["ci95"]
    return Estimate(part["value"], low, high, signed, part.get("n"))
