"""build, validate, audit, split: from a corpus to pairs that can be trusted."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judge_r1.commands.sources_help import ListsSources

Out = Annotated[Path, typer.Option("--out", help="Folder to write.")]
Folder = Annotated[Path, typer.Argument(help="A folder with cases.jsonl and pairs.jsonl.")]


def register(app: typer.Typer) -> None:
    app.command(cls=ListsSources)(build)
    app.command()(validate)
    app.command()(audit)
    app.command()(split)


def build(
    source: Annotated[str, typer.Argument(help="Where the cases come from: see the list below.")],
    out: Out,
    path: Annotated[Path | None, typer.Option(help="The corpus: its folder, a file, or hub:OWNER/NAME.")] = None,
    kinds: Annotated[str, typer.Option(help="Comma-separated: single, multi.")] = "single,multi",
    variants: Annotated[int, typer.Option(min=1, help="Flawed variants per case and principle (the paper's K).")] = 5,
    seed: Annotated[int, typer.Option(help="Same seed, same bytes.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Read so many cases only.")] = None,
    teacher: Annotated[str, typer.Option(help="rules, chat:URL#MODEL or anthropic:MODEL.")] = "rules",
    verify: Annotated[str | None, typer.Option(metavar="SPEC", help="A second teacher that judges blind.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Calls to a teacher at a time.")] = 8,
    budget: Annotated[float | None, typer.Option(min=0, metavar="USD", help="Stop before spending more.")] = None,
    prices: Annotated[Path | None, typer.Option(help="YAML: MODEL: {input: USD, output: USD} per 1M tokens.")] = None,
    cache: Annotated[Path | None, typer.Option(help="File of all answers [default: OUT/answers.sqlite].")] = None,
    batch_export: Annotated[Path | None, typer.Option(help="Write the asks for a batch service instead.")] = None,
    batch_import: Annotated[Path | None, typer.Option(help="First take in the results of a batch service.")] = None,
) -> None:
    """Break reference reasonings on purpose and write labelled pairs. Stopped, it goes on when it is run again.

    Examples: `judge-r1 build medrbench --path data/medical_medrbench --out runs/medical`

    `judge-r1 build medrbench --path data/medical_medrbench --teacher anthropic:MODEL --budget 20 --prices prices.yaml
    --out runs/medical`
    """
    from data_builders import paid
    from data_builders.build import build as build_by_rules
    from data_builders.run import Plan

    plan = Plan(source, path, [kind for kind in kinds.split(",") if kind], variants, seed, limit)
    if teacher == "rules":
        paid.refuse_without_teacher(verify, budget, prices, cache, batch_export, batch_import)
        counts = build_by_rules(source, out, path=path, kinds=plan.kinds, variants=variants, seed=seed, limit=limit)
    else:
        order = paid.Order(teacher, verify, concurrency, budget, prices, cache or out / "answers.sqlite")
        done = paid.build(plan, out, order, batch_export=batch_export, batch_import=batch_import)
        Console().print(done.message)
        if done.counts is None:
            return
        counts = done.counts
    _print_counts(counts, out)


def _print_counts(counts: dict[str, Any], out: Path) -> None:
    table = Table("", "pairs", title=f"{counts['pairs']} pairs of {counts['cases']} cases in {out}")
    for group in ("by_domain", "by_kind", "by_principle"):
        for name, count in counts[group].items():
            table.add_row(name, str(count))
        table.add_section()
    console = Console()
    console.print(table)
    missing = "variants not had" if "teacher" in counts else "operators abstained"
    for title, found in (("cases skipped", counts["skipped_cases"]), (missing, counts["abstained"])):
        console.print(f"{title}: {sum(found.values())}" + (f" ({_most(found)})" if found else ""))
    if "teacher" in counts:
        wanted = sum(counts["teacher"]["wanted"].values())
        rejected = counts["teacher"]["rejected"]
        console.print(_rejections(rejected, f"{wanted} variants wanted, {sum(rejected.values())} rejections"))
    if "verifier" in counts:
        console.print(_agreement(counts["verifier"]))


def _rejections(rejected: dict[str, int], title: str) -> Table:
    """Reasons by set: `P1: the reason` in, one column a set out."""
    sets = [*(f"P{number}" for number in range(1, 7)), "multi"]
    table = Table("rejected", *sets, "all", title=title)
    reasons: dict[str, dict[str, int]] = {}
    for key, count in rejected.items():
        name, _, reason = key.partition(": ")
        reasons.setdefault(reason, {})[name] = count
    for reason, found in sorted(reasons.items(), key=lambda item: -sum(item[1].values())):
        table.add_row(reason, *(str(found.get(name, "")) for name in sets), str(sum(found.values())))
    return table


def _agreement(verifier: dict[str, Any]) -> Table:
    table = Table("verifier", "pairs", "agrees", "on the principles too", "unreadable", title=verifier["name"])
    for name, share in verifier["agreement"].items():
        agreed = (f"{share[key]:.1%}" for key in ("worse_agreed", "principles_agreed"))
        table.add_row(name, str(share["pairs"]), *agreed, str(share["unreadable"]))
    return table


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


def audit(folder: Folder, seed: Annotated[int, typer.Option(help="Seed of the folds.")] = 0) -> None:
    """How far a reader gets who never sees the case: TF-IDF and logistic regression on the two reasonings alone.

    Example: `judge-r1 audit runs/medical`
    """
    from data_builders.probe import print_probe, probe
    from judge_r1.pairs import load_pairs

    print_probe(probe(load_pairs(folder).pairs, seed=seed), Console())


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
