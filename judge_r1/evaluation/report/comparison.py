"""Writes one report of several evaluations or training runs."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from pydantic import TypeAdapter
from rich.console import Console

from judge_r1.core.text_check import counted
from judge_r1.episode.config import Stage
from judge_r1.evaluation.folder import LRBENCH
from judge_r1.evaluation.pins import check_pins
from judge_r1.evaluation.report.discovery import (
    Evaluated,
    Judged,
    NothingToReport,
    TrainingRun,
    find_runs,
    metrics_of,
)
from judge_r1.evaluation.report.leaderboard import leaderboard
from judge_r1.evaluation.report.page import Comparison, Section, report_page
from judge_r1.evaluation.report.paper_tables import figure5, figure6, table12
from judge_r1.evaluation.report.published_measures import measure_grids
from judge_r1.evaluation.report.tables import NONE, Grid, grids, markdown, system_grids
from judge_r1.files.jsonl import write_atomic
from judge_r1.files.strict_json import read_checked

STAGES = get_args(Stage)


def recipe_grid(runs: Sequence[TrainingRun]) -> Grid | None:
    """The recipe keys whose values differ between runs; None if there are none. The section of a stage applies only to
    runs of that stage."""
    recipes: list[dict[str, Any]] = [dict(run.values) for run in runs]
    for section in ("start", "lora"):  # if some runs have none, the section is compared as one value
        if any(recipe.get(section) is None for recipe in recipes):
            recipes = [recipe | {section: _as_value(recipe.get(section))} for recipe in recipes]
    values_by_run = [
        {key: value for key, value in flat(recipe).items() if _applies(key, run)}
        for recipe, run in zip(recipes, runs, strict=True)
    ]
    return _grid("Recipes: what differs", "Keys with the same value in all runs are left out.", runs, values_by_run)


def version_grid(runs: Sequence[TrainingRun]) -> Grid | None:
    """The packages whose versions differ between the runs that recorded them."""
    files = [run.folder / "versions.json" for run in runs]
    shape = TypeAdapter(dict[str, str | None])
    values_by_run = [read_checked(file, shape) if file.exists() else {} for file in files]
    return _grid("Versions: what differs", "Packages that the runs used.", runs, values_by_run)


def flat(data: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Nested sections with keys such as `a.b.c`."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        found |= flat(value, f"{above}{key}.") if isinstance(value, Mapping) else {above + key: value}
    return found


def _as_value(section: Mapping[str, Any] | None) -> str | None:
    """A section as one value: its name if it has one, else its keys and values."""
    if section is None:
        return None
    return str(section["name"]) if "name" in section else ", ".join(f"{key} {value}" for key, value in section.items())


def _applies(key: str, run: TrainingRun) -> bool:
    section = key.partition(".")[0]
    return section not in STAGES or section == run.stage


def _grid(
    title: str, note: str, runs: Sequence[TrainingRun], values_by_run: Sequence[Mapping[str, Any]]
) -> Grid | None:
    keys = list(dict.fromkeys(key for values in values_by_run for key in values))
    differing = tuple(
        (key, *(_text(values.get(key)) for values in values_by_run))
        for key in keys
        if len({_text(values[key]) for values in values_by_run if key in values}) > 1
    )
    return Grid(title, note, ("key", *(run.name for run in runs)), differing) if differing else None


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or NONE
    return NONE if value is None else str(value).lower() if isinstance(value, bool) else str(value)


FIGURE5, FIGURE6 = "Data scaling (Figure 5)", "Ablations (Figure 6)"


def write_comparison(
    folders: Sequence[Path], out: Path, *, published: bool = False, markdown_file: Path | None = None
) -> list[Grid]:
    """Writes the page, and its first table to `markdown_file`. Returns its leaderboard, its table of all labelled
    judges, and its tables beside published results, as far as there are any. `published` adds published judges that
    were measured on other items.

    Raises:
        NothingToReport: There is no table for `markdown_file`. Nothing is written.
        MixedPins: Evaluations of one benchmark depend on different judges, prompts or weights.
    """
    runs, evaluated = find_runs(folders)
    check_pins([(found.folder, found.summary) for found in evaluated.judged])
    board = leaderboard(evaluated.judged, other_items=published)
    table = table12(evaluated, other_items=published)
    tables = [
        *([table] if table else []),
        *_text_grids(evaluated.judged),
        *measure_grids(evaluated.judged, other_items=published),
    ]
    shown = [*([board.grid] if board else []), *tables]
    if markdown_file and not shown:
        raise NothingToReport(f"no folder holds an evaluation, so there is no leaderboard for {markdown_file}")
    comparison = Comparison(
        lead=_lead(runs, evaluated),
        board=board,
        tables=tables,
        figures={FIGURE5: figure5(evaluated), FIGURE6: figure6(evaluated)},
        differing=[grid for grid in (recipe_grid(runs), version_grid(runs)) if grid],
        notes=_notes(runs, evaluated),
        sections=_sections(evaluated, out),
    )
    title = "Training runs" if runs else "Leaderboard"
    page = report_page(out.parent, evaluated.summary, metrics_of(runs), title=title, comparison=comparison)
    write_atomic(out, page)
    if markdown_file:
        write_atomic(markdown_file, [markdown(shown[0])])
    for note in comparison.notes:
        Console(stderr=True).print(f"note: {note}", soft_wrap=True, markup=False, highlight=False)
    return shown


def _text_grids(evaluations: Sequence[Judged]) -> list[Grid]:
    """A table of systems by judges for each benchmark that rates texts, over all folders. A system that a judge scored
    in two folders has the later folder as a prefix."""
    benchmarks: dict[str, dict[str, dict[str, Any]]] = {}
    for found in evaluations:
        for row in found.summary["rows"] if found.summary.get("rates_texts") else ():
            own = benchmarks.setdefault(found.benchmark, {}).setdefault(row["name"], {})
            before = set(own)
            for system, part in row.get("by_system", {}).items():
                own[f"{found.folder.name}/{system}" if system in before else system] = part
    summaries = [
        {"benchmark": name, "rates_texts": True, "rows": [{"name": row, "by_system": own} for row, own in rows.items()]}
        for name, rows in benchmarks.items()
    ]
    return [grid for summary in summaries for grid in system_grids(summary)]


def _lead(runs: Sequence[TrainingRun], evaluated: Evaluated) -> str:
    parts = []
    benchmarks = list(dict.fromkeys(found.benchmark for found in evaluated.judged))
    # 99.6 % of an unfinished run is not 100 %.
    names = [
        f"{run.name} ({min(run.progress, 0.99):.0%}, not finished)" if run.unfinished else run.name for run in runs
    ]
    for kind, count, listed in (("training run", len(runs), names), ("evaluation", len(evaluated.judged), benchmarks)):
        if count:
            parts.append(f"{counted(count, kind)}: {', '.join(listed)}.")
    return " ".join(parts)


def _sections(evaluated: Evaluated, out: Path) -> list[Section]:
    """The tables of each evaluation and a link to its page. LRBench evaluations share one table."""
    return [
        Section(
            f"{found.benchmark}: {found.folder.name}",
            [] if found.benchmark == LRBENCH else grids(found.summary),
            _page(found, out),
        )
        for found in evaluated.judged
    ]


def _page(found: Judged, out: Path) -> str | None:
    """The link from the page `out` to the page of the evaluation."""
    page = found.folder / "report.html"
    if not page.exists() or page.absolute() == out.absolute():
        return None
    return quote(Path(os.path.relpath(page, out.absolute().parent)).as_posix())


def _notes(runs: Sequence[TrainingRun], evaluated: Evaluated) -> list[str]:
    """Warnings about comparisons that are not valid."""
    notes = [f"{note}." for note in evaluated.unfinished]
    notes += [f"{found.folder.name}: {note}." for found in evaluated.judged for note in found.summary.get("notes", ())]
    judged = {run.folder for run in evaluated.runs.values()}
    if unfinished := [run.name for run in runs if run.unfinished]:
        notes.append(
            f"Not finished, so without a model: {', '.join(unfinished)}. Unless it still trains, run its train command "
            "again to resume it, or remove its folder."
        )
    if missing := [run.name for run in runs if run.folder not in judged and not run.unfinished]:
        notes.append(
            f"No evaluation given here names the model of {', '.join(missing)}: "
            "run judge-r1 eval --judge NAME=agentic@RUN/model --path PAIRS --out EVAL."
        )
    if cut := [run.name for run in runs if run.cut]:
        notes.append(f"The metrics of {', '.join(cut)} end before the run does: metrics.jsonl lacks lines.")
    if evaluated.pair_sets > 1:
        notes.append(
            f"The judges were measured on {evaluated.pair_sets} different sets of pairs: "
            "compare only judges of the same set."
        )
    if unsized := [name for name, run in evaluated.runs.items() if run.size is None]:
        notes.append(f"Not in Figure 5, because their training-set size is unknown: {', '.join(unsized)}.")
    return notes
