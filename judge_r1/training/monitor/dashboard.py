"""Renders a run as a terminal dashboard, or as one line per step."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from judge_r1.training.monitor.history import History, sparkline
from judge_r1.training.recipe import Recipe

TREND, BAR = 18, 18
"""Width of a trend and of the longest stage bar, in characters."""


class Line(NamedTuple):
    """A metric, its label and its number format."""

    name: str
    label: str
    format: str = ".3f"


JUDGE = (
    Line("rollout/reward/r", "reward r"),
    Line("rollout/reward/R1", "  R1 comparison"),
    Line("rollout/reward/R2", "  R2 principles"),
    Line("rollout/reward/F1", "label F1"),
    Line("rollout/accuracy", "accuracy"),
    Line("rollout/reward/valid", "valid"),
    Line("rollout/reward/searches", "searches", ".2f"),
    Line("rollout/reward/evidence_hit", "evidence hits"),
    Line("preference_accuracy", "preferred"),
    Line("preference_margin", "margin"),
    Line("token_accuracy", "token accuracy"),
    Line("dev/accuracy", "dev accuracy"),
    Line("dev/reward/r", "dev reward r"),
    Line("dev/reward/F1", "dev label F1"),
    Line("dev/reward/valid", "dev valid"),
    Line("dev/loss", "dev loss", ".4f"),
    Line("dev/preference_accuracy", "dev preferred"),
    Line("dev/token_accuracy", "dev tokens"),
)
LEARNING = (
    Line("loss", "loss", ".4f"),
    Line("entropy", "entropy", ".4f"),
    Line("kl", "KL", ".4f"),
    Line("grad_norm", "grad norm"),
    Line("clip_fraction", "clipped"),
    Line("learning_rate", "learning rate", ".2g"),
    Line("frac_outcome_zero_std", "same outcome"),
    Line("frac_reward_zero_std", "same reward"),
)
STAGES = {
    "generation": "generation",
    "search": "search",
    "score": "score",
    "update": "update",
    "weight_sync": "weight sync",
    "dev": "dev pairs",
}
"""Stages of a step, as in `time/STAGE`, and their labels."""
SHORT = (
    Line("rollout/reward/r", "r"),
    Line("rollout/accuracy", "accuracy", ".2f"),
    Line("rollout/reward/valid", "valid", ".2f"),
    Line("rollout/reward/searches", "searches", ".2f"),
    Line("rollout/reward/evidence_hit", "evidence", ".2f"),
    Line("frac_outcome_zero_std", "same outcome", ".2f"),
    Line("dev/accuracy", "dev accuracy", ".2f"),
    Line("dev/loss", "dev loss", ".4f"),
    Line("preference_accuracy", "preferred", ".2f"),
    Line("loss", "loss", ".4f"),
    Line("entropy", "entropy"),
    Line("kl", "KL", ".4f"),
    Line("grad_norm", "grad", ".2f"),
    Line("time/step", "seconds", ".1f"),
)


def view(recipe: Recipe, folder: Path, history: History, *, state: str, width: int) -> RenderableType:
    """The run as of its last row, with `state` in the header; in two columns if `width` allows."""
    if not history.step:
        return Group(_head(recipe, folder, state), Text("no step yet", style="dim"))
    columns = [_metrics(lines, history) for lines in (JUDGE, LEARNING)]
    columns = [column for column in columns if column.row_count]
    if width >= 110 and len(columns) > 1:
        side = Table.grid(padding=(0, 4))
        side.add_row(*columns)
        columns = [side]
    parts: list[RenderableType] = [_head(recipe, folder, state), _bar(history), Text(), *columns]
    if failures := history.last.get("rollout/infrastructure_failures"):
        parts.append(Text(f"{failures:.1%} of the last episodes failed in search or generation", style="yellow"))
    return Group(*parts, Text(), *_stages(history, overlapping_search=recipe.grpo.engine == "verl"))


def plain(history: History) -> str:
    """The last step in one line."""
    last, total = history.last, history.total
    metrics = [f"{line.label} {last[line.name]:{line.format}}" for line in SHORT if line.name in last]
    left = history.seconds_left
    return "  ".join([f"step {history.step}/{total or '?'}", *metrics, *([f"left {duration(left)}"] if left else [])])


def duration(seconds: float) -> str:
    """`45 s`, `3:20`, `2:03:20` or `3 d 04:10` (hours and minutes)."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    if hours >= 24:
        return f"{hours // 24} d {hours % 24:02}:{rest // 60:02}"
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def _head(recipe: Recipe, folder: Path, state: str) -> Text:
    kind = f"GRPO on {recipe.grpo.engine}" if recipe.stage == "grpo" else recipe.stage.upper()
    head = Text.assemble((recipe.name, "bold"), f"  {kind}  ", (str(folder), "dim"), f"  {state}")
    head.no_wrap, head.overflow = True, "ellipsis"
    return head


def _bar(history: History) -> RenderableType:
    row = Table.grid(padding=(0, 2))
    total, left = history.total, history.seconds_left
    row.add_row(
        ProgressBar(total=total or history.step, completed=history.step, width=40),
        Text(f"step {history.step} of {total or '?'}"),
        Text(f"{duration(left)} left" if left else "", style="dim"),
    )
    return row


def _metrics(lines: Sequence[Line], history: History) -> Table:
    """One row per metric of the run: its last value, its trend, and its change since the first step."""
    table = Table.grid(padding=(0, 1))
    table.add_column(width=15, no_wrap=True)
    table.add_column(justify="right", width=8)
    table.add_column(width=TREND, style="cyan", no_wrap=True)
    table.add_column(justify="right", style="dim", width=8)
    for line in lines:
        if values := history.series(line.name):
            change = values[-1] - values[0]
            table.add_row(
                Text(line.label),
                Text(f"{values[-1]:{line.format}}"),
                sparkline(values, TREND),
                Text(f"{change:+{line.format}}" if len(values) > 1 else ""),
            )
    return table


def _stages(history: History, *, overlapping_search: bool) -> list[RenderableType]:
    """Seconds of the last step by stage, as bars.

    `overlapping_search`: searches are waits of single episodes while others run, so they are not part of the step's
    sum."""
    last = history.last
    seconds = {label: last[f"time/{stage}"] for stage, label in STAGES.items() if f"time/{stage}" in last}
    step, speed = last.get("time/step"), last.get("tokens_per_second")
    notes = [f"{step:.1f} s per step"] if step else []
    notes += [f"{speed:,.0f} tokens/s"] if speed else []
    if len(seconds) < 2:
        return [Text("  ".join(notes), style="dim")] if notes else []
    table = Table.grid(padding=(0, 1))
    table.add_column(width=15)
    table.add_column(justify="right", width=8)
    table.add_column(width=BAR, style="cyan")
    summed = sum(spent for label, spent in seconds.items() if label != STAGES["search"] or not overlapping_search)
    other = (step or 0.0) - summed
    if step and other > 0.05 * step:
        seconds["other"] = other
    longest = max(seconds.values())
    for label, spent in seconds.items():
        table.add_row(label, f"{spent:.1f} s", "█" * round(spent / longest * BAR) if longest else "")
    return [table, Text("  ".join(notes), style="dim")]


def age(path: Path) -> float:
    """Seconds since a file was written; 0 if it does not exist."""
    return max(time.time() - path.stat().st_mtime, 0.0) if path.exists() else 0.0
