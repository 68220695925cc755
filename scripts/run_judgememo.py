"""Runs JudgeMemo with the scripted judge of known errors (scripts/known_errors_judge.py) and prints the tables of docs.

    python scripts/run_judgememo.py --out runs/judgememo

The parts: `ratings` rates documents from templates in one prompt and in sections, `density` repeats two manipulations
at the density of the released data set, `pairs` compares pairs by reports, by searchable notes and by plain search, and
`context` does so on longer documents with a model of a small context, which the reports outgrow. The judge runs behind
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
from scripts.known_errors_judge import chat, limited_chat

ROOT = Path(__file__).parents[1]
BATCH = 8


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="parts to run (default: all)")
    parser.add_argument("--documents", type=int, default=12, help="number of documents (default: 12)")
    parser.add_argument("--tokens", type=int, default=8000, help="least length of a document (default: 8000)")
    parser.add_argument(
        "--short", type=int, default=2000, help="length of short documents and sections (default: 2000)"
    )
    parser.add_argument("--context", type=int, default=3000, help="words of the small context (default: 3000)")
    options = parser.parse_args(arguments)
    for part in options.parts:
        PARTS[part](options)


def ratings(options: argparse.Namespace) -> None:
    scan, memory = f"scan={options.short},overlap=0", f"memory={options.out / 'memory'}"
    judges = [
        "vanilla=document",
        *(f"memo {rule}=memo:{scan},{memory},aggregate={rule}" for rule in ("char_mean", "min", "final_judge")),
    ]
    show("Ratings", evaluate(options.out / "ratings", data(options), None, judges))


def density(options: argparse.Namespace) -> None:
    legacy = build(
        options.out / "legacy", options.documents,
        *lengths_of(options), "density=legacy", "types=exchange_content,temporal",
    )  # fmt: skip
    judges = [f"memo=memo:scan={options.short},overlap=0"]
    show("The density of the released data", evaluate(options.out / "density", legacy, None, judges))


def pairs(options: argparse.Namespace) -> None:
    scan = f"scan={options.short},overlap=0"
    judges = [
        "document=document",
        f"memo scores=memo:{scan},final=false",
        f"memo reports=memo:{scan},aggregate=final_judge",
        *(f"search {index}=memo-search:{scan},index={index}" for index in ("notes", "both", "document")),
    ]
    show("Pairs", evaluate(options.out / "pairs", data(options), "pairs:full", judges))


def context(options: argparse.Namespace) -> None:
    """Half as many documents, up to eight times as long. All judges share their memories."""
    lengths = [options.tokens * 2**power for power in range(3)]
    longest = options.tokens * 8
    long = build(
        options.out / "long", options.documents // 2,
        f"story_tokens={longest}", f"lengths=full,{','.join(map(str, lengths))}",
    )  # fmt: skip
    scan = f"scan={options.short},overlap=0,memory={options.out / 'long memory'}"
    judges = [
        f"memo scores=memo:{scan},final=false",
        f"memo reports=memo:{scan},aggregate=final_judge",
        f"search notes=memo-search:{scan},index=notes",
    ]
    for length in (*lengths, "full"):
        found = evaluate(options.out / f"context {length}", long, f"pairs:{length}", judges, limit=options.context)
        show(f"Pairs of {length} tokens, a context of {options.context} words", found)


PARTS = {"ratings": ratings, "density": density, "pairs": pairs, "context": context}


def lengths_of(options: argparse.Namespace) -> list[str]:
    return [f"story_tokens={options.tokens}", f"lengths=full,{options.short}"]


def data(options: argparse.Namespace) -> Path:
    return build(options.out / "data", options.documents, *lengths_of(options))


def build(out: Path, documents: int, *options: str) -> Path:
    """The folder of a data set, which is built if it is not there."""
    if not (out / "build.json").exists():
        plan = BuildPlan("cofluence", limit=documents, options=options)
        build_by_rules(generator_for("cofluence", with_teacher=False)(plan), out)
    return out


def evaluate(
    out: Path, data: Path, subset: str | None, judges: Sequence[str], *, limit: int | None = None
) -> dict[str, Any]:
    """The summary of an evaluation of `NAME=KIND:OPTIONS` judges. `limit` is the context of their model in words."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    server_class = importlib.import_module("fake_judge_endpoint").JudgeServer
    benchmark = BENCHMARKS.get("cofluence").load(data, subset)
    reply = chat if limit is None else limited_chat(limit)
    started = time.monotonic()
    with server_class(reply) as server, Evaluation(benchmark, out, resume=False, name="cofluence") as evaluation:
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
    """Accuracy, the share of items whose prompt does not fit, calls and tokens of each judge."""
    cells = tuple(
        (
            row["name"],
            f"{row['does_not_fit'] or 0:.2f}",
            f"{row['accuracy']:.2f} [{row['ci95'][0]:.2f}, {row['ci95'][1]:.2f}]",
            *(f"{part['accuracy']:.2f}" for part in row["by_domain"].values()),
            *(f"{row['usage'][name]:,.0f}" for name in ("calls", "input_tokens", "output_tokens")),
        )
        for row in rows
    )
    columns = (
        "judge",
        "does not fit",
        "accuracy [95 %]",
        *rows[0]["by_domain"],
        "calls",
        "input tokens",
        "output tokens",
    )
    return Grid("Accuracy and cost", "The scripted endpoint counts words as tokens.", columns, cells)


if __name__ == "__main__":
    main()
