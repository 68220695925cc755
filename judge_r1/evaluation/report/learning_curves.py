"""Draws learning curves from the rows of `metrics.jsonl`."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted
from judge_r1.evaluation.report.charts import Figure, Points, colors_of, line_chart

FIRST = re.compile(
    r"^(?!trl/|verl/|ended)(.*[/_])?(r|reward|rewards|valid|accuracy|f1|searches|evidence_hit|loss|kl|entropy|"
    r"grad_norm|clip_fraction|preference_margin|frac_reward_zero_std|frac_outcome_zero_std)($|/)",
    re.IGNORECASE,
)
"""Curves that are shown first; all others, and those of single domains and principles, are collapsed."""
DETAIL = re.compile(r"P[1-6]\b|domain|principle|ended/|/(medical|legal|academic)$")


class ReportError(JudgeError):
    """A report that cannot be written; the message says why."""


def curves(metrics: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[list[Figure], list[Figure]]:
    """The curves to show first, and the others: one chart per metric, one line for each run with two or more steps.

    `metrics` maps runs to rows, each with a `step`.

    Raises:
        ReportError: A row has no step.
    """
    found: dict[str, dict[str, Points]] = {}
    broken: Counter[str] = Counter()
    for run, rows in metrics.items():
        for name, points in _points(run, rows).items():
            finite = [(x, y) for x, y in points if math.isfinite(y)]
            broken[name] += len(points) - len(finite)
            if len({x for x, _ in finite}) > 1:
                found.setdefault(name, {})[run] = finite
    first: list[Figure] = []
    more: list[Figure] = []
    colors = colors_of(list(metrics))
    for name, lines in found.items():
        note = f"Not drawn, because not finite: {counted(broken[name], 'value')}." if broken[name] else ""
        chart = Figure(name, line_chart(name, lines, colors), colors, note)
        (first if FIRST.search(name) and not DETAIL.search(name) else more).append(chart)
    return first, more


def _points(run: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for number, row in enumerate(rows, 1):
        if not isinstance(row.get("step"), int | float):
            raise ReportError(f"row {number} of the metrics of run {run!r} has no step: each row needs one")
        for name, value in row.items():
            if name in ("step", "epoch", "progress") or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            found.setdefault(name, []).append((row["step"], value))
    return found
