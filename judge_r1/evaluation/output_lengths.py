"""The lengths in tokens of the outputs that a benchmark shows to judges (LongJudgeBench, Tables 1 and 2)."""

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median
from typing import Any

from judge_r1.core.items import Item
from judge_r1.evaluation.report.tables import Grid

ALL = "all"


def output_lengths(items: Sequence[Item], count: Callable[[str], int]) -> dict[str, dict[str, Any]]:
    """Items, different outputs, and mean and median tokens of each group and of all.

    Table 1 counts both outputs of each pair (`mean`, `median`), Table 2 each different output once (`..._different`).
    """
    known: dict[str, int] = {}
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.group or ALL, []).append(item)
        for text in item.texts:
            if text not in known:
                known[text] = count(text)
    return {
        name: _measured([text for item in own for text in item.texts], len(own), known)
        for name, own in ({**groups, ALL: items} if len(groups) > 1 else {ALL: items}).items()
    }


def _measured(texts: Sequence[str], items: int, known: dict[str, int]) -> dict[str, Any]:
    shown, different = [known[text] for text in texts], [known[text] for text in dict.fromkeys(texts)]
    return {
        "items": items,
        "outputs": len(different),
        "mean": fmean(shown),
        "median": median(shown),
        "mean_different": fmean(different),
        "median_different": median(different),
        "longest": max(shown),
    }


def lengths_grid(found: dict[str, dict[str, Any]], tokenizer: str) -> Grid:
    """The table of `output_lengths`."""
    rows = tuple((name, *map(_cell, row.values())) for name, row in found.items())
    note = f"Tokens of {tokenizer}. Over all outputs shown (Table 1), and over different ones (Table 2)."
    heads = ("group", "items", "different outputs", "mean", "median", "mean, different", "median, different", "longest")
    return Grid("Length of the outputs", note, heads, rows)


def _cell(value: float) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def with_texts(items: Iterable[Item]) -> list[Item]:
    """The items whose outputs are texts that the files hold."""
    return [item for item in items if item.texts and all(item.texts)]
