"""Runs JudgeMemo with the scripted judge of known errors (scripts/known_errors_judge.py) and prints the tables of docs.

    python scripts/run_judgememo.py --out runs/judgememo

It builds documents from templates, rates them in one prompt and in sections, repeats two manipulations at the density
of the released data set, and compares pairs by reports, by searchable notes and by plain search. The judge runs behind
a real HTTP server. It knows what errors look like, so the results show how the pipeline behaves, not what a language
model can do.
"""

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from data_builders.build import build_by_rules
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan
from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.report.delta_tables import delta_grids
from judge_r1.evaluation.report.tables import Grid, markdown
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel
from scripts.known_errors_judge import chat

ROOT = Path(__file__).parents[1]
BATCH = 8


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--documents", type=int, default=12, help="number of documents (default: 12)")
    parser.add_argument("--tokens", type=int, default=8000, help="least length of a document (default: 8000)")
    parser.add_argument("--short", type=int, default=2000, help="length of the short documents (default: 2000)")
    options = parser.parse_args(arguments)
    out, scan = options.out, f"scan={options.short},overlap=0"
    lengths = [f"story_tokens={options.tokens}", f"lengths=full,{options.short}"]
    build(out / "data", options.documents, lengths)
    build(out / "legacy", options.documents, [*lengths, "density=legacy", "types=exchange_content,temporal"])
    memory = f"memory={out / 'memory'}"
    rated = [
        "vanilla=document",
        *(f"memo {rule}=memo:{scan},{memory},aggregate={rule}" for rule in ("char_mean", "min", "final_judge")),
    ]
    show("Ratings", evaluate(out, "ratings", out / "data", None, rated))
    show("The density of the released data", evaluate(out, "density", out / "legacy", None, [f"memo=memo:{scan}"]))
    paired = [
        "document=document",
        f"memo scores=memo:{scan},final=false",
        f"memo reports=memo:{scan},aggregate=final_judge",
        *(f"search {index}=memo-search:{scan},index={index}" for index in ("notes", "both", "document")),
    ]
    show("Pairs", evaluate(out, "pairs", out / "data", "pairs:full", paired))


def build(out: Path, documents: int, options: Sequence[str]) -> None:
    plan = BuildPlan("cofluence", limit=documents, options=tuple(options))
    build_by_rules(generator_for("cofluence", with_teacher=False)(plan), out)


def evaluate(out: Path, name: str, data: Path, subset: str | None, judges: Sequence[str]) -> dict[str, Any]:
    """The summary of an evaluation of `NAME=KIND:OPTIONS` judges."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    server_class = importlib.import_module("fake_judge_endpoint").JudgeServer
    benchmark = BENCHMARKS.get("cofluence").load(data, subset)
    started = time.monotonic()
    with server_class(chat) as server, Evaluation(benchmark, out / name, resume=False, name="cofluence") as evaluation:
        for judge in judges:
            spec = f"{judge}@{server.url}#known-errors"
            evaluation.run(lambda spec=spec: make_panel(spec, JudgeBuild("", batch_size=BATCH)))  # type: ignore[misc]
        summary = evaluation.finish([])
    return summary | {"wall": time.monotonic() - started}


def show(title: str, summary: dict[str, Any]) -> None:
    console = Console(soft_wrap=True)
    console.print(f"\n## {title} ({summary['wall']:.0f} s)\n", markup=False)
    rows = summary["rows"]
    for grid in (costs(rows), *delta_grids(rows)):
        console.print(f"### {grid.title}\n\n{markdown(grid)}", markup=False, highlight=False)


def costs(rows: Sequence[dict[str, Any]]) -> Grid:
    """Accuracy, calls and tokens of each judge."""
    cells = tuple(
        (
            row["name"],
            f"{row['accuracy']:.2f} [{row['ci95'][0]:.2f}, {row['ci95'][1]:.2f}]",
            *(f"{part['accuracy']:.2f}" for part in row["by_domain"].values()),
            *(f"{row['usage'][name]:,.0f}" for name in ("calls", "input_tokens", "output_tokens")),
        )
        for row in rows
    )
    columns = ("judge", "accuracy [95 %]", *rows[0]["by_domain"], "calls", "input tokens", "output tokens")
    return Grid("Accuracy and cost", "The scripted endpoint counts words as tokens.", columns, cells)


if __name__ == "__main__":
    main()
