"""Several training runs as one report."""

from collections.abc import Sequence
from pathlib import Path

from judge_r1.evaluation.differing import recipe_grid, version_grid
from judge_r1.evaluation.paper import figure5, figure6, table12
from judge_r1.evaluation.report import Comparison, write_report
from judge_r1.evaluation.table import Grid
from judge_r1.evaluation.trained import Evaluated, TrainingRun, find_runs, metrics_of

FIGURE5, FIGURE6 = "Data scaling (Figure 5)", "Ablations (Figure 6)"


def write_comparison(folders: Sequence[Path], out: Path) -> Grid | None:
    """Write the page; returns its table of all judges, None where none was evaluated."""
    runs, evaluated = find_runs(folders)
    table = table12(evaluated)
    scaling = figure5(evaluated)
    comparison = Comparison(
        lead=f"{len(runs)} training run{'s' if len(runs) != 1 else ''}: {', '.join(run.name for run in runs)}."
        if runs
        else "",
        tables=[table] if table else [],
        figures={FIGURE5: scaling, FIGURE6: figure6(evaluated)},
        differing=[grid for grid in (recipe_grid(runs), version_grid(runs)) if grid],
        notes=_notes(runs, evaluated),
    )
    write_report(out, evaluated.summary, metrics_of(runs), [], title="Training runs", comparison=comparison)
    return table


def _notes(runs: Sequence[TrainingRun], evaluated: Evaluated) -> list[str]:
    """What a reader must know before comparing."""
    notes = []
    judged = {run.folder for run in evaluated.runs.values()}
    if missing := [run.name for run in runs if run.folder not in judged]:
        notes.append(
            f"No evaluation given here names the model of {', '.join(missing)}: "
            "judge-r1 eval --judge NAME=agentic@RUN/model --path PAIRS --out EVAL makes one."
        )
    if evaluated.pair_sets > 1:
        notes.append(
            f"The rows were measured on {evaluated.pair_sets} different sets of pairs: "
            "compare only rows of the same set."
        )
    if unsized := [name for name, run in evaluated.runs.items() if run.size is None]:
        notes.append(f"Not in Figure 5, since the size of their training data is not known: {', '.join(unsized)}.")
    return notes
