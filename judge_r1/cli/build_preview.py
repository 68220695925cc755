"""Prints what `build --preview` built: pairs side by side, the yield, and what the whole corpus will take."""

import sys
from collections import Counter
from datetime import timedelta

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from data_builders.audit.annotation.form import Piece, differences
from data_builders.build_recipe import BuildRecipe
from data_builders.generators.base import BuildPlan
from data_builders.preview import Estimate, Preview, example_prompt
from data_builders.rejection_report import printable
from judge_r1.core.principles import PRINCIPLES, by_number
from judge_r1.core.records import ReasoningPair
from judge_r1.core.text_check import counted

_AROUND = 160
"""Characters of unchanged text that are shown before and after a difference."""
_LONGEST_LINE = 300
_CUSTOM = "custom"


def show_question(plan: BuildPlan) -> None:
    """For a domain of one's own and rules: print what a teacher would be asked."""
    if plan.source != _CUSTOM:
        return
    console = Console(soft_wrap=True)
    console.print("Rules know little of a domain of your own. A teacher would be asked, for the first case and P1:")
    lines = (line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} […]" for line in example_prompt(plan))
    console.print(printable("\n".join(f"  | {line}" for line in lines)), markup=False, highlight=False)


def show_preview(preview: Preview, plan: BuildRecipe) -> None:
    """Print a preview."""
    console = Console(soft_wrap=False)
    for number, pair in enumerate(preview.data.pairs, 1):
        console.print(_side_by_side(number, pair, colour=console.is_terminal and not console.no_color))
    cases, pairs = preview.report["cases"], preview.report["pairs"]
    console.print(
        f"{cases} of {counted(preview.total, 'case')}: {counted(pairs, 'pair')}. {_yield(preview, plan)}", markup=False
    )
    if reasons := Counter(preview.report["abstained"]):
        most = ", ".join(f"{name}: {count}" for name, count in reasons.most_common(3))
        console.print(f"Not made or left out: {reasons.total()}, most often {most}", markup=False)
    if preview.used:
        table = Table("teacher", "cases", "requests", "tokens in", "tokens out", "cost")
        for row in preview.used:
            table.add_row(*_cells(row, cases))
        for row in preview.whole:
            table.add_row(*_cells(row, preview.total))
        console.print(table)
    took, at = "unknown, because these answers came from the cache", ""
    if preview.seconds is not None:
        took, at = (
            f"about {timedelta(seconds=round(preview.seconds))}",
            "" if plan.by_rules else f" with concurrency={plan.concurrency}",
        )
    console.print(f"Time for all {counted(preview.total, 'case')}: {took}{at}", markup=False)


def show_limits(preview: Preview, plan: BuildRecipe) -> None:
    """Print what the table of costs does not say: whether the budget covers all cases, and what comes on top."""
    costs = [row.usd for row in preview.whole if row.usd is not None]
    if plan.budget is not None and sum(costs) > plan.budget:
        print(f"The budget of ${plan.budget:.2f} does not cover all cases: about ${sum(costs):.2f} are needed")
    if plan.rationales is not None:
        count = plan.rationales.count
        print(f"{count} rationales come on top: each takes a request for every search and one for its answer")


def confirmed(total: int, *, yes: bool) -> bool:
    """Whether to build all cases: by --yes, or by the user's answer on a terminal."""
    if yes:
        return True
    if sys.stdin.isatty() and sys.stdout.isatty():
        return typer.confirm(f"Build all {counted(total, 'case')}?")
    print(f"Nothing is written yet. To build all {counted(total, 'case')}, run the same command with --yes")
    return False


def _yield(preview: Preview, plan: BuildPlan) -> str:
    """How many pairs of each set there are of those that the cases should give."""
    wanted, made = preview.report["cases"] * plan.variants, preview.report["by_set"]
    names = [*(p.code for p in PRINCIPLES if "single" in plan.kinds), *(["multi"] if "multi" in plan.kinds else [])]
    return ", ".join(f"{name} {made.get(name, 0)} of {wanted}" for name in names)


def _side_by_side(number: int, pair: ReasoningPair, *, colour: bool) -> Table:
    """The lines in which the reasonings of a pair differ, with the differences in colour or between marks."""
    broken = ", ".join(f"{by_number(n).code} {by_number(n).name}" for n in pair.violated)
    table = Table(
        "better", "worse", title=f"{number}. {broken} (case {pair.case_id})", expand=True, title_justify="left"
    )
    better, worse = pair.reference.split("\n"), pair.flawed.split("\n")
    lines = list(zip(better, worse, strict=True)) if len(better) == len(worse) else [(pair.reference, pair.flawed)]
    for old, new in lines:
        if old != new:
            left, right = differences(old, new)
            table.add_row(_marked(left, "green", "[-", "-]", colour), _marked(right, "red", "{+", "+}", colour))
    return table


def _marked(pieces: tuple[Piece, ...], style: str, opened: str, closed: str, colour: bool) -> Text:
    text = Text()
    for index, (piece, differs) in enumerate(pieces):
        shown = printable(piece)
        if differs:
            text.append(shown if colour else f"{opened}{shown}{closed}", style=f"bold {style}" if colour else "")
            continue
        first, last = index == 0, index == len(pieces) - 1
        if first and len(shown) > _AROUND:
            shown = "… " + shown[-_AROUND:]
        elif last and len(shown) > _AROUND:
            shown = shown[:_AROUND] + " …"
        elif len(shown) > 2 * _AROUND:
            shown = f"{shown[:_AROUND]} … {shown[-_AROUND:]}"
        text.append(shown)
    return text


def _cells(row: Estimate, cases: int) -> tuple[str, ...]:
    cost = "no prices" if row.usd is None else f"${row.usd:.2f}"
    return row.teacher, str(cases), *(f"{n:,}" for n in (row.calls, row.input_tokens, row.output_tokens)), cost
