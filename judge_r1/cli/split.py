"""split: split pairs by case into training and test sets."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from judge_r1.cli.options import refuse
from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import are, counted

SHARE = 0.2


def split(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="PAIRS...", help="Folders with cases.jsonl and pairs.jsonl, or one of conversations."),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    test_share: Annotated[
        float | None, typer.Option(help=f"Share of the cases in the test set; {SHARE} by default.")
    ] = None,
    sizes: Annotated[str | None, typer.Option(help="Pairs per set and domain, for example 1000,3000,5000.")] = None,
    test: Annotated[
        int | None, typer.Option(min=1, help="With --sizes: test cases per domain, one pair each; 100 by default.")
    ] = None,
    dev_share: Annotated[float | None, typer.Option(help="Share of the cases in a dev set; none by default.")] = None,
    dev: Annotated[
        int | None, typer.Option(min=1, help="With --sizes: dev cases per domain, one pair each; none by default.")
    ] = None,
    seed: Annotated[int, typer.Option()] = 0,
    near_duplicates: Annotated[
        Literal["group", "fail"], typer.Option(help="Keep near-duplicate cases in one set, or reject them.")
    ] = "group",
    recipe: Annotated[Path | None, typer.Option(help="Measure prompts as this recipe shows them.")] = None,
    model: Annotated[str | None, typer.Option(help="Measure prompts with this tokenizer.")] = None,
    max_prompt_tokens: Annotated[int | None, typer.Option(min=1, help="Leave longer prompts out.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a split of other pairs or options in OUT.")
    ] = False,
) -> None:
    """Split pairs by case, never by pair, into OUT/train and OUT/test, or, with --sizes, into nested training sets and
    a balanced test set as LRBench has them. OUT/dev holds cases to evaluate on during training.

    Conversations are split by document, with --test-share and --dev-share alone.

    Example: `judge-r1 split runs/medical --test-share 0.2 --dev-share 0.1 --out runs/medical-split`

    Example: `judge-r1 split runs/medical runs/legal --sizes 1000,3000,5000 --test 100 --dev 50 --out runs/lrbench`
    """
    if sizes is None:
        refuse("goes with --sizes; shares of the cases are --test-share and --dev-share", test=test, dev=dev)
    else:
        shares = {"test_share": test_share is not None, "dev_share": dev_share is not None}
        refuse("and --sizes exclude each other; with --sizes, --test and --dev are numbers of cases", **shares)
    from data_builders.conversations.parts import split_conversations
    from data_builders.prompt_lengths import length_audit
    from data_builders.splits.policy import by_share, by_sizes
    from data_builders.splits.split import refuse_other_split
    from data_builders.splits.split import split as split_pairs
    from judge_r1.files.transcripts import is_conversations

    audited = recipe is not None or model is not None
    if any(map(is_conversations, folders)):
        if sizes is not None or audited or max_prompt_tokens or near_duplicates != "group" or len(folders) > 1:
            raise JudgeError("conversations are split from one folder by --test-share and --dev-share alone")
        share = SHARE if test_share is None else test_share
        if not overwrite:
            refuse_other_split(out, folders, by_share(share, seed, dev_share).settings)
        for name, count in split_conversations(folders[0], out, share, seed, dev_share).items():
            print(f"{out / name}: {counted(count['pairs'], 'pair')} of {counted(count['documents'], 'document')}")
        return
    if max_prompt_tokens is not None and not audited:
        raise JudgeError("--max-prompt-tokens needs the tokenizer that will train: give --recipe or --model")
    set_sizes = [int(size) if size.strip().isdecimal() else 0 for size in (sizes or "").split(",")]
    share, cases = SHARE if test_share is None else test_share, 100 if test is None else test
    plan = by_share(share, seed, dev_share) if sizes is None else by_sizes(set_sizes, cases, seed, dev or 0)
    # What else decides the parts, where it is not the default. A recipe or model that only measures decides nothing.
    others: dict[str, Any] = {} if near_duplicates == "group" else {"near_duplicates": near_duplicates}
    if max_prompt_tokens is not None:
        tokenizer = {name: str(value) for name, value in (("recipe", recipe), ("model", model)) if value}
        others |= {"max_prompt_tokens": max_prompt_tokens, **tokenizer}
    plan = replace(plan, settings={**plan.settings, **others})
    if not overwrite:
        refuse_other_split(out, folders, plan.settings)
    report = split_pairs(
        folders,
        out,
        plan,
        near=near_duplicates,
        audit=length_audit(recipe, model, max_prompt_tokens) if audited else None,
        leave_out=max_prompt_tokens is not None,
    )
    _print_split(report, out, Console())


def _print_split(report: Mapping[str, Any], out: Path, console: Console) -> None:
    """The parts, what they are short of, prompt lengths, near duplicates and repeats."""
    from data_builders.splits.policy import training_name

    for name, part in report["parts"].items():
        console.print(
            f"{out / name}: {counted(part['cases'], 'case')}, {counted(part['pairs'], 'pair')}, A is better in "
            f"{part['a_better']}"
        )
        nominal = part.get("nominal")
        if nominal and name != training_name(nominal):
            console.print(
                f"  too few pairs for {training_name(nominal)}: {part['pairs']:,} of {nominal:,} "
                f"({part['pairs'] / nominal:.1%}), so the set is named after the pairs it has",
                style="yellow",
            )
        for domain, missing in part.get("short", {}).items():
            console.print(f"  {domain} is short of {_counts(missing)}", style="yellow")
    test = report["parts"]["test"]
    for domain, sets in test["by_set"].items():
        console.print(f"test, {domain}: {_counts(sets)}")
    console.print(f"test, principles: {_counts(test['by_principle'])}")
    if lengths := report.get("prompt_tokens"):
        table = Table("", *next(iter(lengths["by_domain"].values())), title="prompt tokens")
        for domain, row in lengths["by_domain"].items():
            table.add_row(domain, *map(str, row.values()))
        console.print(table)
        action = "left out" if lengths["left_out"] else "kept"
        if lengths["over"]:
            console.print(
                f"{counted(lengths['over'], 'prompt')} {are(lengths['over'])} over {lengths['limit']} tokens and "
                f"{action}: {out / 'too_long.jsonl'}"
            )
    near = report["near_duplicates"]
    if near["pairs"]:
        console.print(
            f"{counted(near['pairs'], 'pair')} of near-duplicate cases, none across sets: "
            f"{out / 'near_duplicates.jsonl'}"
        )
    if report["repeated"]:
        console.print(f"in several folders, taken once: {_counts(report['repeated'])}")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
