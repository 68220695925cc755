"""Table 14 beside the share of the tokens, and as bars."""

from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.evaluation.report.bars import bar_chart
from judge_r1.evaluation.report.paper_tables import Figure
from judge_r1.evaluation.report.tables import NONE, Grid

NOTE = (
    "Attention, percent: mean over decisions, the last layers and their heads, from the position that predicts the "
    "sign of the answer [95 % interval, clustered]. Tokens: the section's share of all tokens read by then, which is "
    "what even attention would give it. Relative: attention / tokens. Of five, even, paper: shares among the paper's "
    "five sections alone, of the attention here, of the tokens here, and of the attention in supplementary Table 14 "
    "(GRPO-8B). A - B: decisions for A minus those for B; right - wrong alike [95 % interval, clustered; none where "
    "one side is of fewer than 5 clusters]."
)


def attention_grid(name: str, row: Mapping[str, Any]) -> Grid:
    cells = tuple(
        (
            section,
            _interval(part["attention"], part["ci95"]),
            _share(part["tokens"]),
            f"{part['relative']:.2f}",
            *(_share(part[key]) for key in ("of_five", "tokens_of_five", "paper")),
            *(_difference(part[key]) for key in ("first_minus_second", "right_minus_wrong")),
        )
        for section, part in row["sections"].items()
    )
    title = (
        f"{name}: attention at {row['n']} decisions ({row['first']} A, {row['second']} B; {row['right']} right, "
        f"{row['wrong']} wrong), {row['layers']} layers; {row['without']} games without a decision"
    )
    columns = ("section", "attention", "tokens", "relative", "of five", "even", "paper", "A - B", "right - wrong")
    return Grid(title, NOTE, columns, cells)


def attention_figure(name: str, row: Mapping[str, Any]) -> Figure:
    """Attention and tokens side by side, a group of bars for each section."""
    labels = [_short(section) for section in row["sections"]]
    bars = {key: [part[key] for part in row["sections"].values()] for key in ("attention", "tokens")}
    title = f"{name}: share of the attention and of the tokens"
    colours = {"attention": 0, "tokens": 6}
    return Figure(name, bar_chart(title, labels, bars, colours), colours, f"{title}.")


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
    return NONE if value is None else f"{100 * value:.1f}"


def _interval(value: float, ci95: Sequence[float] | None, sign: str = "") -> str:
    if ci95 is None:
        return f"{100 * value:{sign}.1f}"
    low, high = ci95
    return f"{100 * value:{sign}.1f} [{100 * low:{sign}.1f}, {100 * high:{sign}.1f}]"


def _difference(part: Mapping[str, Any] | None) -> str:
    return NONE if part is None else _interval(part["value"], part["ci95"], "+")
