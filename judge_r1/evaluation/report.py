"""`report.html`: one static file with the tables, the learning curves, and episodes to read beside their evidence."""

import base64
import hashlib
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from judge_r1.errors import JudgeError
from judge_r1.evaluation.chart import COLOURS, Points, line_chart
from judge_r1.evaluation.outcomes import outcome
from judge_r1.evaluation.paper import Figure
from judge_r1.evaluation.segments import segments
from judge_r1.evaluation.table import Best, Estimate, Grid, grids
from judge_r1.jsonl import write_atomic
from judge_r1.principles import PRINCIPLES, by_number
from judge_r1.records import Evidence, ReasoningPair, Span, Trajectory, Turn

FIRST = re.compile(
    r"^(?!trl/|verl/|ended)(.*[/_])?(r|reward|rewards|valid|accuracy|f1|searches|evidence_hit|loss|kl|entropy|"
    r"grad_norm|clip_share|zero_variance|preference_margin|frac_reward_zero_std)($|/)",
    re.IGNORECASE,
)
"""Curves that are shown at once; the others, and those of single domains and principles, are folded away."""
DETAIL = re.compile(r"P[1-6]\b|domain|principle|ended/|/(medical|legal|academic)$")


class ReportError(JudgeError):
    """A report that cannot be written from what was given."""


class Episode(NamedTuple):
    """One episode to read: the row it belongs to, its pair, and what happened."""

    row: str
    pair: ReasoningPair
    trajectory: Trajectory


class Comparison(NamedTuple):
    """Training runs side by side: the lead of the page, the paper's table and figures, what differs."""

    lead: str
    tables: Sequence[Grid]
    figures: Mapping[str, Sequence[Figure]]
    differing: Sequence[Grid]
    notes: Sequence[str] = ()


class Piece(NamedTuple):
    """A stretch of text, and what it is marked with (None: plain)."""

    text: str
    mark: str | None


def write_report(
    path: Path,
    summary: Mapping[str, Any],
    metrics: Mapping[str, Sequence[Mapping[str, Any]]],
    episodes: Sequence[Episode],
    *,
    title: str = "Judge report",
    comparison: Comparison | None = None,
) -> None:
    """Write the report to `path`; all text in it is escaped, and its page may load and run nothing but itself.

    `summary` is as in summary.json; of training runs that nobody evaluated it may hold no rows. `comparison` is what
    there is to say of several training runs.
    `metrics` maps runs to the rows of their `metrics.jsonl` (each with a `step`); every number in them is a curve.
    `episodes` are all shown, so choose them. Needs jinja2; raises ReportError.
    """
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise ReportError("the report needs jinja2: pip install jinja2") from error
    source = files("judge_r1.evaluation").joinpath("report.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.tests["estimate"] = lambda cell: isinstance(cell, Estimate)
    environment.tests["best"] = lambda cell: isinstance(cell, Best)
    first, more = _charts(metrics)
    page = environment.from_string(source).render(
        title=title, summary=summary, grids=grids(summary) if summary["rows"] else [], comparison=comparison,
        script_hash=_script_hash(source), runs=_colours(metrics), charts=first, more_charts=more,
        episodes=[_episode(e) for e in episodes], rows=list(dict.fromkeys(e.row for e in episodes)),
        principles=PRINCIPLES,
    )  # fmt: skip
    write_atomic(path, [page])


def marked(text: str, spans: Sequence[tuple[int, int, str]]) -> list[Piece]:
    """`text` cut at the spans `(start, end, mark)`; a stretch under several of them carries all their marks."""
    cuts = sorted({0, len(text), *(min(max(at, 0), len(text)) for start, end, _ in spans for at in (start, end))})
    pieces = []
    for start, end in pairwise(cuts):
        marks = dict.fromkeys(mark for low, high, mark in spans if low <= start and end <= high)
        pieces.append(Piece(text[start:end], ", ".join(marks) or None))
    return pieces


def _script_hash(source: str) -> str:
    """For the page's own security policy: the one script it may run."""
    script = source.split("<script>")[1].split("</script>")[0]
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _colours(metrics: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, int]:
    return {run: number % COLOURS for number, run in enumerate(metrics)}


def _charts(metrics: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The curves to show at once, and the others: one chart a metric, one line a run that has it at two steps."""
    curves: dict[str, dict[str, Points]] = {}
    broken: Counter[str] = Counter()
    for run, rows in metrics.items():
        for name, points in _curves(run, rows).items():
            finite = [(x, y) for x, y in points if math.isfinite(y)]
            broken[name] += len(points) - len(finite)
            if len({x for x, _ in finite}) > 1:
                curves.setdefault(name, {})[run] = finite
    first: list[dict[str, str]] = []
    more: list[dict[str, str]] = []
    for name, lines in curves.items():
        note = f"{broken[name]} value(s) were not finite and are not drawn." if broken[name] else ""
        chart = {"title": name, "svg": line_chart(name, lines, _colours(metrics)), "note": note}
        (first if FIRST.search(name) and not DETAIL.search(name) else more).append(chart)
    return first, more


def _curves(run: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for number, row in enumerate(rows, 1):
        if not isinstance(row.get("step"), int | float):
            raise ReportError(f"row {number} of the metrics of run {run!r} has no step: each row needs one")
        for name, value in row.items():
            if name in ("step", "epoch", "progress") or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            found.setdefault(name, []).append((row["step"], value))
    return found


def _episode(episode: Episode) -> dict[str, Any]:
    """What the template shows of one episode."""
    row, pair, trajectory = episode
    result = outcome(row, pair, trajectory)
    flaws = [(f.span.start, f.span.end, f"P{f.principle} {f.operator}") for f in pair.origin.flaws]
    wanted = [span for flaw in pair.origin.flaws for span in flaw.context_spans]
    return {
        "row": row,
        "pair": pair,
        "outcome": result,
        "verdict": "right" if result.correct else "wrong" if result.valid else "invalid",
        "gold": _judgment(pair.gold.comparison, pair.violated),
        "judged": _judgment(result.comparison, result.predicted) if result.valid else f"no judgment ({result.ended})",
        "reasonings": [
            {
                "name": name,
                "flawed": pair.preferred != name,
                "pieces": marked(text, flaws if pair.preferred != name else []),
            }
            for name, text in (("A", pair.reasoning_a), ("B", pair.reasoning_b))
        ],
        "turns": [_turn(turn, wanted) for turn in trajectory.turns],
    }


def _turn(turn: Turn, wanted: Sequence[Span]) -> dict[str, Any]:
    return {
        "segments": segments(turn.text),
        "searched": turn.query is not None and turn.notice is None,
        "notice": turn.notice,
        "dropped": turn.passages_dropped,
        "passages": [_passage(passage, wanted) for passage in turn.passages],
    }


def _passage(passage: Evidence, wanted: Sequence[Span]) -> dict[str, Any]:
    spans = [(s.start - passage.start, s.end - passage.start, "contradicted by the flaw") for s in wanted]
    pieces = marked(passage.text, spans)
    return {"at": passage, "pieces": pieces, "hit": any(piece.mark for piece in pieces)}


def _judgment(comparison: str | None, violated: Sequence[int] | None) -> str:
    codes = ", ".join(by_number(number).code for number in violated or ()) or "no principle"
    return f"{'A' if comparison == 'A>B' else 'B'} is better; {codes} violated"
