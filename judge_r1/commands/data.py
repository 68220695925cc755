"""build, validate, split: from a corpus to pairs that can be trusted."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from data_builders.sources import SOURCES

Out = Annotated[Path, typer.Option("--out", help="Folder to write.")]
Folder = Annotated[Path, typer.Argument(help="A folder with cases.jsonl and pairs.jsonl.")]
_SOURCES = "\n".join(f"* {name}: {SOURCES.get(name).help}" for name in SOURCES.names())


def register(app: typer.Typer) -> None:
    app.command()(build)
    app.command()(validate)
    app.command()(split)


def build(
    source: Annotated[str, typer.Argument(help=_SOURCES)],
    out: Out,
    path: Annotated[Path | None, typer.Option(help="Folder of the corpus in its original format.")] = None,
    kinds: Annotated[str, typer.Option(help="Comma-separated: single, multi.")] = "single,multi",
    variants: Annotated[int, typer.Option(min=1, help="Flawed variants per case and principle (the paper's K).")] = 5,
    seed: Annotated[int, typer.Option(help="Same seed, same bytes.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Read so many cases only.")] = None,
) -> None:
    """Break reference reasonings on purpose and write labelled pairs.

    Example: `judge-r1 build medrbench --path data/medical_medrbench --out runs/medical`
    """
    from data_builders.build import build as build_pairs

    counts = build_pairs(
        source, out, path=path, kinds=[k for k in kinds.split(",") if k], variants=variants, seed=seed, limit=limit
    )
    table = Table("", "pairs", title=f"{counts['pairs']} pairs of {counts['cases']} cases in {out}")
    for group in ("by_domain", "by_kind", "by_principle"):
        for name, count in counts[group].items():
            table.add_row(name, str(count))
        table.add_section()
    console = Console()
    console.print(table)
    for title, found in (("cases skipped", counts["skipped_cases"]), ("operators abstained", counts["abstained"])):
        console.print(f"{title}: {sum(found.values())}" + (f" ({_most(found)})" if found else ""))


def validate(
    folder: Folder,
    recipe: Annotated[Path | None, typer.Option(help="Also check that every prompt and gold trace fits it.")] = None,
) -> None:
    """Check a folder of pairs: gold scores 1.0, labels, places, lengths, A/B balance; exit status 1 if it fails.

    Example: `judge-r1 validate runs/medical`
    """
    from data_builders.validate import validate as check
    from judge_r1.config import load_recipe

    report = check(folder, load_recipe(recipe) if recipe else None)
    console = Console()
    console.print(f"{report.valid} of {report.pairs} pairs are valid ({report.valid / report.pairs:.1%})")
    console.print(
        f"A is better in {report.a_better} of {report.pairs}, p = {report.balance_p:.3f} (exact binomial test)"
    )
    console.print("length of flawed over reference: min {:.2f}, median {:.2f}, max {:.2f}".format(*report.ratios))
    for reason, (count, example) in sorted(report.problems.items()):
        console.print(f"{count} x {reason}, for example pair {example}", style="red")
    if not report.good:
        raise typer.Exit(1)


def split(
    folder: Folder,
    out: Out,
    test_share: Annotated[float, typer.Option(help="Share of the cases that go to the test set.")] = 0.2,
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Split pairs by case into OUT/train and OUT/test.

    Example: `judge-r1 split runs/medical --test-share 0.2 --out runs/medical-split`
    """
    from data_builders.build import write_pairs
    from data_builders.splits import split_by_case
    from judge_r1.pairs import load_pairs

    for name, part in zip(("train", "test"), split_by_case(load_pairs(folder), test_share, seed), strict=True):
        write_pairs(part, out / name)
        Console().print(f"{out / name}: {len(part.cases)} cases, {len(part.pairs)} pairs")


def _most(counts: dict[str, int]) -> str:
    return ", ".join(f"{name}: {n}" for name, n in sorted(counts.items(), key=lambda item: -item[1])[:6])
