"""Table 14 beside the share of the tokens, and as bars."""

from collections.abc import Mapping
from typing import Any

from judge_r1.evaluation.bars import bar_chart
from judge_r1.evaluation.paper import Figure
from judge_r1.evaluation.table import NONE, Estimate, Grid

NOTE = (
    "Attention: mean over decisions, the last layers and their heads, from the position that predicts the sign of the "
    "answer [95 % interval, clustered]. Tokens: the section's share of all tokens read by then, which is what even "
    "attention would give it. Relative: attention / tokens. Of five, paper: shares among the paper's five sections alone "
    "(supplementary Table 14, GRPO-8B). Prefers A, B and right, wrong: attention in those decisions."
)


def attention_grid(name: str, row: Mapping[str, Any]) -> Grid:
    cells = tuple(
        (
            section,
            Estimate(part["attention"], *part["ci95"]),
            _share(part["tokens"]),
            f"{part['relative']:.2f}",
            _share(part["of_five"]),
            _share(part["paper"]),
            *(_share(part[key]) for key in ("first", "second")),
            _difference(part["first"], part["second"]),
            *(_share(part[key]) for key in ("right", "wrong")),
            _difference(part["right"], part["wrong"]),
        )
        for section, part in row["sections"].items()
    )
    counts = (
        f"A ({row['first']})",
        f"B ({row['second']})",
        "diff",
        f"right ({row['right']})",
        f"wrong ({row['wrong']})",
    )
    title = (
        f"{name}: attention at {row['n']} decisions, {row['layers']} layers; {row['without']} games without a decision"
    )
    columns = ("section", "attention", "tokens", "relative", "of five", "paper", *counts, "diff")
    return Grid(title, NOTE, columns, cells)


def attention_figure(name: str, row: Mapping[str, Any]) -> Figure:
    """Attention and tokens side by side, a group of bars for each section."""
    labels = [_short(section) for section in row["sections"]]
    bars = {key: [part[key] for part in row["sections"].values()] for key in ("attention", "tokens")}
    title = f"{name}: share of the attention and of the tokens"
    return Figure(title, bar_chart(title, labels, bars, {"attention": 0, "tokens": 6}), {"attention": 0, "tokens": 6})


def _short(section: str) -> str:
    return {
        "first token": "1st",
        "chat template": "chat",
        "instructions": "instr",
        "principles": "princ",
        "context": "case",
        "decision": "asked",
        "reasoning A": "A",
        "reasoning B": "B",
        "passages": "found",
        "written": "own",
    }[section]


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.1%}"


def _difference(one: float | None, other: float | None) -> str:
    return NONE if one is None or other is None else f"{one - other:+.1%}"
