"""build, validate, split: from a corpus to pairs that can be trusted."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from data_builders.sources import SOURCES
from judge_r1.cli.splits import print_split
from judge_r1.core.errors import JudgeError

if TYPE_CHECKING:
    from data_builders.prompt_lengths import LengthAudit

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
    """Insert flaws into reference reasonings and write labelled pairs. Run a stopped build again to resume it.

    Examples: `judge-r1 build medrbench --path data/medical_medrbench --out runs/medical`

    `judge-r1 build medrbench --path data/medical_medrbench --teacher anthropic:MODEL --budget 20 --prices prices.yaml
    --out runs/medical`
    """
    from data_builders.build import build as build_without_teacher
    from data_builders.generators.base import BuildPlan
    from data_builders.teachers import session
    from data_builders.teachers.budget import Spending, load_prices

    plan = BuildPlan(source, path, [kind for kind in kinds.split(",") if kind], variants, seed, limit)
    if teacher == "rules":
        session.refuse_without_teacher(verify, budget, prices, cache, batch_export, batch_import)
        counts = build_without_teacher(
            source, out, path=path, kinds=plan.kinds, variants=variants, seed=seed, limit=limit
        )
    else:
        spending = Spending(load_prices(prices) if prices else None, budget)
        options = session.SessionOptions(cache or out / "answers.sqlite", concurrency, batch_export, batch_import)
        done = session.build(plan, out, teacher, verify, options, spending)
        Console(soft_wrap=True).print(done.message, markup=False)
        if done.value is None:
            return
        counts = done.value
    _print_counts(counts, out)


def _print_counts(counts: dict[str, Any], out: Path) -> None:
    from data_builders.generators import dataset_of

    dataset = dataset_of(out)
    lead, main = dataset.files[0], dataset.main
    made = f"{counts[main.plural]} {main.plural}"
    of = f" of {counts[lead.plural]} {lead.plural}" if lead != main else ""
    table = Table("", main.plural, title=f"{made}{of} in {out}")
    for group, labels in counts.items():
        if group.startswith("by_") and group != "by_operator":
            for name, count in labels.items():
                table.add_row(name, str(count))
            table.add_section()
    console = Console()
    console.print(table)
    missing = "variants missing" if "teacher" in counts else "operators abstained"
    skipped = counts[f"skipped_{lead.plural}"]
    for title, found in ((f"{lead.plural} skipped", skipped), (missing, counts["abstained"])):
        console.print(f"{title}: {sum(found.values())}" + (f" ({_most(found)})" if found else ""), markup=False)
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
    """Check a built folder; exit status 1 if it fails. Pairs: gold scores 1.0, labels, positions, lengths, A/B balance.

    Example: `judge-r1 validate runs/medical`
    """
    from data_builders.validate import validate as check
    from judge_r1.training.recipe import load_recipe

    report = check(folder, load_recipe(recipe) if recipe else None)
    console = Console()
    share = f" ({report.valid / report.records:.1%})" if report.records else ""
    console.print(f"{report.valid} of {report.records} {report.noun}s are valid{share}")
    for note in report.notes:
        console.print(note)
    for reason, (count, example) in sorted(report.problems.items()):
        console.print(f"{count} x {reason}, for example {report.noun} {example}", style="red", markup=False)
    if not report.good:
        raise typer.Exit(1)


def split(
    folders: Annotated[
        list[Path], typer.Argument(metavar="PAIRS...", help="Folders with cases.jsonl and pairs.jsonl.")
    ],
    out: Out,
    test_share: Annotated[
        float | None, typer.Option(help="Share of the cases in the test set; 0.2 by default.")
    ] = None,
    sizes: Annotated[str | None, typer.Option(help="Pairs per set and domain, for example 1000,3000,5000.")] = None,
    test: Annotated[
        int | None, typer.Option(min=1, help="With --sizes: test cases per domain, one pair each; 100 by default.")
    ] = None,
    seed: Annotated[int, typer.Option()] = 0,
    near_duplicates: Annotated[
        str, typer.Option(help="group: nearly alike cases stay together; fail: refuse them.")
    ] = "group",
    recipe: Annotated[Path | None, typer.Option(help="Measure prompts as this recipe shows them.")] = None,
    model: Annotated[str | None, typer.Option(help="Measure prompts with this tokenizer.")] = None,
    max_prompt_tokens: Annotated[int | None, typer.Option(min=1, help="Leave longer prompts out.")] = None,
) -> None:
    """Split pairs by case, never by pair, into OUT/train and OUT/test, or, with --sizes, into nested training sets and
    a balanced test set as LRBench has them.

    Example: `judge-r1 split runs/medical --test-share 0.2 --out runs/medical-split`

    Example: `judge-r1 split runs/medical runs/legal --sizes 1000,3000,5000 --test 100 --out runs/lrbench`
    """
    from data_builders.splits.policy import by_share, by_sizes
    from data_builders.splits.split import split as split_pairs

    if sizes is not None and test_share is not None:
        raise JudgeError("--sizes and --test-share exclude each other")
    if test is not None and sizes is None:
        raise JudgeError("--test goes with --sizes; a share of the cases is --test-share")
    if near_duplicates not in ("group", "fail"):
        raise JudgeError(f"--near-duplicates takes group or fail, not {near_duplicates}")
    wanted = [int(size) if size.strip().isdecimal() else 0 for size in (sizes or "").split(",")]
    share, cases = 0.2 if test_share is None else test_share, 100 if test is None else test
    plan = by_share(share, seed) if sizes is None else by_sizes(wanted, cases, seed)
    audit = _length_audit(recipe, model, max_prompt_tokens)
    report = split_pairs(
        folders,
        out,
        plan,
        near="fail" if near_duplicates == "fail" else "group",
        audit=audit,
        leave_out=max_prompt_tokens is not None,
    )
    print_split(report, out, Console())


def _length_audit(recipe: Path | None, model: str | None, limit: int | None) -> "LengthAudit | None":
    from data_builders.prompt_lengths import LengthAudit, PromptLengths
    from judge_r1.episode.config import EpisodeConfig
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.models.hub import load_tokenizer
    from judge_r1.training.recipe import load_recipe

    if recipe is None and model is None:
        if limit is not None:
            raise JudgeError("--max-prompt-tokens needs the tokenizer that will train: give --recipe or --model")
        return None
    resolved = load_recipe(recipe) if recipe else None
    config = resolved.episode if resolved else EpisodeConfig()
    name = model or (resolved.model if resolved else "")
    return LengthAudit(PromptLengths(SafeTokenizer(load_tokenizer(name)), config), limit or config.prompt_tokens)


def _most(counts: dict[str, int]) -> str:
    return ", ".join(f"{name}: {n}" for name, n in sorted(counts.items(), key=lambda item: -item[1])[:6])
