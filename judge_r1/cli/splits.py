"""What `split` says on the screen; everything is in split.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


def print_split(report: Mapping[str, Any], out: Path, console: Console) -> None:
    """The parts, what they are short of, prompt lengths, near duplicates and repeats."""
    for name, part in report["parts"].items():
        console.print(f"{out / name}: {part['cases']} cases, {part['pairs']} pairs, A is better in {part['a_better']}")
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
        fate = "left out" if lengths["left_out"] else "kept"
        if lengths["over"]:
            console.print(
                f"{lengths['over']} prompts are over {lengths['limit']} tokens and {fate}: {out / 'too_long.jsonl'}"
            )
    near = report["near_duplicates"]
    if near["pairs"]:
        console.print(f"{near['pairs']} pairs of nearly alike cases, none across: {out / 'near_duplicates.jsonl'}")
    if report["repeated"]:
        console.print(f"in several folders, taken once: {_counts(report['repeated'])}")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
