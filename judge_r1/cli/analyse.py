"""analyse: analyses behind an accuracy (the paper's appendices G and H, Figure 1)."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from judge_r1.cli.options import locks_out
from judge_r1.core.text_check import counted

if TYPE_CHECKING:
    from judge_r1.evaluation.analysis.evaluation_reader import Judged
    from judge_r1.evaluation.report.charts import Figure
    from judge_r1.evaluation.report.discovery import Evaluated
    from judge_r1.evaluation.report.tables import Grid

Eval = Annotated[Path, typer.Argument(help="A folder that `judge-r1 eval` wrote.")]
Runs = Annotated[list[Path], typer.Argument(help="Run folders, evaluation folders, or folders that contain them.")]
Items = Annotated[
    Path | None, typer.Option("--path", help="The benchmark's files of that evaluation, if not in the package.")
]
Out = Annotated[Path, typer.Option("--out", help="Folder to write.")]
Bench = Annotated[str | None, typer.Option(help="That of summary.json by default.")]
Subset = Annotated[str | None, typer.Option(help="That of summary.json by default.")]
Judges = Annotated[list[str] | None, typer.Option(help="Only this judge; may be repeated.")]

group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")


def register(app: typer.Typer) -> None:
    app.add_typer(
        group,
        name="analyse",
        help="Analyses behind an accuracy: attention, reasoning, bias, errors, radar, proxy and gold. "
        "Example: `judge-r1 analyse class-bias runs/eval --path runs/data/test --out runs/analysis`",
    )


@group.command()
@locks_out
def attention(
    folder: Eval,
    out: Out,
    path: Items = None,
    benchmark: Bench = None,
    subset: Subset = None,
    judge_name: Judges = None,
    model: Annotated[
        list[str] | None, typer.Option(help="Read the same episodes with this model; may be repeated.")
    ] = None,
) -> None:
    """Measure the attention of a local model at its decision by section of the prompt (Table 14).

    The model that wrote the episodes reads them again token by token. --model uses another one with the same
    tokenizer, such as the model before training.

    Example: `judge-r1 analyse attention runs/eval --path runs/data/test --judge-name grpo --out runs/analysis`
    """
    from judge_r1.evaluation.analysis import attention as analysis

    found = analysis.attention_rows(_read(folder, path, benchmark, subset, judge_name), model or ())
    grids = [analysis.attention_grid(name, row) for name, row in found.items()]
    _write(out, "attention", found, grids, [analysis.attention_figure(name, row) for name, row in found.items()])


@group.command()
@locks_out
def reasoning(
    folder: Eval,
    out: Out,
    path: Items = None,
    benchmark: Bench = None,
    subset: Subset = None,
    judge_name: Judges = None,
) -> None:
    """Count the valid answers whose reasoning names principles, names the right ones, or quotes the case (Table 15).

    Example: `judge-r1 analyse reasoning runs/eval --path runs/data/test --out runs/analysis`
    """
    from judge_r1.evaluation.analysis import reasoning_traits
    from judge_r1.evaluation.analysis.evaluation_reader import writing

    panels = writing(_read(folder, path, benchmark, subset, judge_name))
    found = {panel.name: reasoning_traits.reasoning_row(panel) for panel in panels}
    _write(out, "reasoning", found, [reasoning_traits.reasoning_grid(found)])


@group.command("class-bias")
@locks_out
def class_bias(
    folder: Eval,
    out: Out,
    path: Items = None,
    benchmark: Bench = None,
    subset: Subset = None,
    judge_name: Judges = None,
) -> None:
    """Measure the preference for the first candidate, and accuracy where it is better and where it is worse (Table 16).

    Example: `judge-r1 analyse class-bias runs/eval --path runs/data/test --out runs/analysis`
    """
    from judge_r1.evaluation.analysis.class_bias import bias_grid, bias_row

    found = {panel.name: bias_row(panel) for panel in _read(folder, path, benchmark, subset, judge_name)}
    _write(out, "class-bias", found, [bias_grid(found)])


@group.command()
@locks_out
def errors(
    folder: Eval,
    out: Out,
    path: Items = None,
    benchmark: Bench = None,
    subset: Subset = None,
    judge_name: Judges = None,
) -> None:
    """Analyse errors: flips from each judge to the next, and accuracy by candidate similarity, length and evidence.

    Example: `judge-r1 analyse errors runs/eval --path runs/data/test --judge-name base --judge-name grpo --out runs/an`
    """
    from judge_r1.evaluation.analysis.error_analysis import flip_grid, flips, slice_grids, slices

    panels = _read(folder, path, benchmark, subset, judge_name)
    changed = [flips(one, other) for one, other in pairwise(panels)]
    parts = {panel.name: slices(panel) for panel in panels}
    grids = [*([flip_grid(changed)] if changed else []), *slice_grids(parts)]
    _write(out, "errors", {"flips": changed, "slices": parts}, grids)


@group.command()
@locks_out
def radar(runs: Runs, out: Out, judge_name: Judges = None) -> None:
    """Plot accuracy by domain and principle as a radar chart, one line per judge (Figure 1).

    Example: `judge-r1 analyse radar runs/eval --judge-name warm-up --judge-name grpo --out runs/analysis`
    """
    from judge_r1.evaluation.analysis import radar as analysis

    found, figure = analysis.radar(_evaluated(runs).rows, judge_name or ())
    _write(out, "radar", found, [analysis.radar_grid(found)], [figure])


@group.command()
@locks_out
def deltas(
    scores: Annotated[
        list[Path],
        typer.Argument(help="Tables of scores: judge, document, length, manipulation, and a column for each metric."),
    ],
    out: Out,
) -> None:
    """Write JudgeMemo's tables from parsed scores of documents and their degraded copies: originals, Δ, length effect.

    docs/judgememo.md has the columns. An evaluation of cofluence has these tables in its report.

    Example: `judge-r1 analyse deltas parsed_scores.csv --out runs/thesis`
    """
    from judge_r1.evaluation.analysis import parsed_scores
    from judge_r1.evaluation.report.delta_tables import delta_figures, delta_grids

    results = parsed_scores.read_parsed_scores(scores)
    rows = parsed_scores.summary_rows(results)
    tables = [parsed_scores.original_scores(results), *delta_grids(rows), *parsed_scores.z_grids(rows)]
    _write(out, "deltas", {row["name"]: row["extra"] for row in rows}, tables, delta_figures(rows), shown=False)
    lines = sum(len(table.rows) for table in tables)
    Console().print(f"{counted(len(tables), 'table')} with {counted(lines, 'row')}", highlight=False)


@group.command()
@locks_out
def writers(folder: Eval, out: Out) -> None:
    """Show HelloBench's scores of systems by size, by required length, and beside people's (Figures 3, 4 and 12).

    Example: `judge-r1 analyse writers runs/hellobench --out runs/analysis`
    """
    from judge_r1.evaluation.analysis.writers import systems_table, writer_analysis
    from judge_r1.evaluation.folder import read_summary
    from judge_r1.evaluation.results import read_outcomes

    table = systems_table(read_summary(folder), folder)
    results = [result for own in read_outcomes(folder).values() for result in own]
    _write(out, "writers", *writer_analysis(table, results))


@group.command()
@locks_out
def length(runs: Runs, out: Out) -> None:
    """Show LongJudgeBench's accuracy by length of the outputs, and failures by overflow and by refusal (Figures 2, 3).

    Example: `judge-r1 analyse length runs/ma runs/realdr --out runs/analysis`
    """
    from judge_r1.evaluation.analysis import length_analysis as analysis

    judged = _evaluated(runs).judged
    subsets = {str(one.summary.get("subset") or "") for one in judged}
    found = analysis.measures(
        [
            (str(one.summary.get("subset") or "") if len(subsets) > 1 else "", row)
            for one in judged
            for row in one.summary["rows"]
        ]
    )
    _write(out, "length", found, analysis.length_grids(found), analysis.length_figures(found))


@group.command("proxy-gold")
@locks_out
def proxy_gold(
    answers: Annotated[
        Path, typer.Argument(help="Answers to fixed prompts at checkpoints: step, prompt, answer, and context if any.")
    ],
    out: Out,
    proxy: Annotated[str, typer.Option(help="The judge that the policy was trained with.")],
    gold: Annotated[str, typer.Option(help="A judge of another model family.")],
    batch_size: Annotated[int, typer.Option(help="Concurrent requests.", min=1)] = 32,
    resume: Annotated[bool, typer.Option("--resume", help="Run only the requests that OUT lacks.")] = False,
) -> None:
    """Show whether a second judge follows the one that a policy was trained with, over checkpoints.

    Both compare each answer with that of the first step, in both orders.

    Example: `judge-r1 analyse proxy-gold answers.jsonl --proxy direct@URL#a --gold direct@URL#b --out runs/watch`
    """
    from judge_r1.evaluation.analysis import proxy_gold as analysis
    from judge_r1.judges.base import JudgeBuild

    found, note = analysis.proxy_gold(answers, out, proxy, gold, JudgeBuild("", batch_size=batch_size), resume=resume)
    if note:
        Console(stderr=True).print(f"note: {note}", soft_wrap=True, markup=False, highlight=False)
    _write(out, "proxy-gold", found, [analysis.grid(found)], [analysis.figure(found)])


def _read(
    folder: Path, path: Path | None, benchmark: str | None, subset: str | None, judges: list[str] | None
) -> "list[Judged]":
    from judge_r1.evaluation.analysis.evaluation_reader import read_evaluation
    from judge_r1.evaluation.report.tables import few_clusters_note

    panels = read_evaluation(folder, path, benchmark=benchmark, subset=subset, rows=judges or ())
    if note := few_clusters_note({"cases": len(set(panel.clusters.values()))} for panel in panels):
        Console(stderr=True).print(f"note:{note}", soft_wrap=True, markup=False, highlight=False)
    return panels


def _evaluated(runs: list[Path]) -> "Evaluated":
    from judge_r1.evaluation.report.discovery import find_runs

    evaluated = find_runs(runs)[1]
    for note in evaluated.unfinished:
        Console(stderr=True).print(f"note: {note}", soft_wrap=True, markup=False, highlight=False)
    return evaluated


def _write(
    out: Path, kind: str, data: Any, grids: "Sequence[Grid]", figures: "Sequence[Figure]" = (), *, shown: bool = True
) -> None:
    from judge_r1.evaluation.analysis.output import write_analysis
    from judge_r1.evaluation.report.tables import print_grid

    console, files = Console(), write_analysis(out, kind, data, grids, figures)
    for grid in grids if shown else ():
        print_grid(grid, console)
    for path in files:
        console.print(str(path), markup=False, highlight=False, soft_wrap=True)
