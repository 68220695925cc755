"""Renders `report.html`: a static page with the leaderboard, tables, plots, learning curves and all episodes. That of
many items keeps them in files beside it."""

import base64
import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.text_check import counted
from judge_r1.evaluation.report.charts import MARKS, Figure, Points, colors_of, line_chart, whisker_chart
from judge_r1.evaluation.report.delta_tables import delta_figures, delta_grids
from judge_r1.evaluation.report.discovery import Judged
from judge_r1.evaluation.report.leaderboard import CHANCE, Leaderboard, chance_note, leaderboard
from judge_r1.evaluation.report.published_measures import measure_grids
from judge_r1.evaluation.report.tables import Estimate, Grid, estimate, grids, is_best, position_grid
from judge_r1.evaluation.report.vote_viewer import is_one_file, page_data
from judge_r1.evaluation.results import PanelResults

PLOTTED = 8
"""The maximum number of judges in a plot; more are shown only in the tables."""

SCRIPTS = ("nodes.js", "diff.js", "episode.js", "item.js", "browse.js")
NAMES = {p.code: p.name for p in PRINCIPLES}


class Section(NamedTuple):
    """Tables under one heading; `link` is the page that shows the items."""

    title: str
    tables: Sequence[Grid]
    link: str | None = None


class Comparison(NamedTuple):
    """Several evaluations or training runs side by side: the lead of the page, the leaderboard, the paper's table and
    figures, what differs between runs, and the tables of each evaluation."""

    lead: str
    board: Leaderboard | None
    tables: Sequence[Grid]
    figures: Mapping[str, Sequence[Figure]]
    differing: Sequence[Grid]
    notes: Sequence[str] = ()
    sections: Sequence[Section] = ()


def report_page(
    folder: Path,
    summary: Mapping[str, Any],
    metrics: Mapping[str, Sequence[Mapping[str, Any]]],
    results: Sequence[PanelResults] = (),
    *,
    title: str = "Judge report",
    opens: str | None = None,
    comparison: Comparison | None = None,
) -> Iterator[str]:
    """The parts of a report that will stand in `folder`. All text is escaped. The page runs no other script and
    loads no file, except for the items if there are many (`vote_viewer`). The episodes are read while the parts are.

    `summary` is as in summary.json; it has no rows if only training runs are reported. `metrics` maps runs to the rows
    of their `metrics.jsonl` (each with a `step`); every number in them becomes a curve. `results` are panels of one
    benchmark, whose votes the page shows, first those of the panel `opens`. `comparison` compares several runs or
    evaluations.

    Raises:
        ReportError: jinja2 is not installed, or a row of `metrics` has no step.
    """
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise ReportError("the report needs jinja2: pip install jinja2") from error
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=FunctionLoader(_file),
    )  # fmt: skip
    environment.tests["estimate"] = lambda cell: isinstance(cell, Estimate)
    environment.tests["best"] = is_best
    script = "\n" + "\n".join(_file(name) for name in SCRIPTS) if results else "\n"
    settings = {row["name"]: row["settings"] for row in summary["rows"]}
    first, more = curves(metrics)
    judged = Judged(folder, summary, {})
    parts: Iterator[str] = _template(environment).generate(
        title=title, summary=summary, comparison=comparison, style=Markup(_file("style.css")),
        script=Markup(script), script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        board=comparison.board if comparison else leaderboard([judged]),
        grids=_grids(summary, results) + ([] if comparison else measure_grids([judged])),
        plots=[] if comparison else plots(summary),
        runs=colors_of(list(metrics)), charts=first, more_charts=more,
        data=map(Markup, page_data(folder, results, settings)) if results else None, one_file=is_one_file(results),
        opens=next((number for number, found in enumerate(results) if found.panel == opens), 0),
        principle_names={p.number: p.name for p in PRINCIPLES}, shapes=MARKS,
        labelled=bool(results and results[0].benchmark.labels), count=len(results[0].items) if results else 0,
    )  # fmt: skip
    return parts


def _template(environment: Any) -> Any:
    """The template of the page. It is compiled once: to a file that this user alone can write, as Python's own are."""
    from jinja2 import FileSystemBytecodeCache

    with suppress(OSError, RuntimeError):
        environment.bytecode_cache = FileSystemBytecodeCache(pattern="judge_r1-%s")
        return environment.get_template("report.html")
    environment.bytecode_cache = None  # there is no such folder
    return environment.get_template("report.html")


def plots(summary: Mapping[str, Any]) -> list[Figure]:
    """Plots of accuracy overall, by domain (or group) and by principle. Each judge has a color and a mark."""
    rows = summary["rows"]
    if not rows or len(rows) > PLOTTED or summary.get("rates_texts"):
        return []
    colors = colors_of([row["name"] for row in rows])
    overall = {row["name"]: {row["name"]: estimate(row, row["n"])} for row in rows}
    chance = next((row["accuracy"] for row in rows if row["name"] == CHANCE), None)
    figures = [
        Figure("Overall", whisker_chart("Accuracy", overall, colors, dashed=chance), colors, chance_note(chance))
    ]
    for title, key in (("Accuracy by domain", "by_domain"), ("Accuracy by principle", "by_principle")):
        parts = {
            name: {row["name"]: estimate(row[key][name], row[key][name]["n"]) for row in rows if name in row[key]}
            for name in sorted({name for row in rows for name in row[key]})
        }
        if len(parts) > 1:
            named = {f"{name} {NAMES[name]}" if name in NAMES else name: part for name, part in parts.items()}
            figures.append(Figure(title, whisker_chart(title, named, colors), colors))
    return [*figures, *delta_figures(rows)]


def _grids(summary: Mapping[str, Any], results: Sequence[PanelResults]) -> list[Grid]:
    positions = position_grid(results)
    tables = [*grids(summary), *delta_grids(summary["rows"])] if summary["rows"] else []
    return [*tables, *([positions] if positions else [])]


def _file(name: str) -> str:
    return files(__package__).joinpath("static", name).read_text(encoding="utf-8")


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
