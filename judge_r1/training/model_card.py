"""Writes the card of a trained model: its recipe, versions and training metrics."""

from pathlib import Path
from typing import Any

from judge_r1.files.run_log import read_rows
from judge_r1.files.strict_yaml import dump_yaml
from judge_r1.training.recipe import Recipe, dump_recipe
from judge_r1.training.run_folder import versions

RECENT = 10
"""Number of logged rows in the mean of a metric."""
_SHOWN = (
    "loss", "grad_norm", "entropy", "kl", "token_accuracy", "preference_", "rollout/accuracy", "rollout/reward/",
)  # fmt: skip


def write_card(folder: Path, recipe: Recipe, step: int | None, metrics: Path) -> None:
    """Write `folder`/README.md. `step` is the checkpoint's step, or None at the end of the run. Later steps of the file
    `metrics` are left out."""
    scalar = recipe.stage == "dpo" and not recipe.prefers
    kind, judge = ("A reward model", "scalar") if scalar else ("An agentic judge", "agentic")
    base = recipe.start.model if recipe.start else recipe.model
    header: dict[str, Any] = {
        "library_name": "transformers",
        "pipeline_tag": "text-classification" if scalar else "text-generation",
        "tags": ["judge_r1", recipe.stage],
    }
    if base.count("/") == 1 and not Path(base).exists():
        header["base_model"] = base
    rows = [row for row in read_rows(metrics) if step is None or row["step"] <= step]
    parts = [
        f"---\n{dump_yaml(header)}---",
        f"# {recipe.name}",
        f"{kind} of long-context reasoning: {recipe.stage} from `{base}`"
        + (f" after `{recipe.start.name}`" if recipe.start else "")
        + (f", checkpoint of step {step}." if step is not None else "."),
        f"```\njudge-r1 eval --judge {judge}@THIS_FOLDER --recipe RECIPE --path PAIRS --out OUT\n```",
        "Context `{}`, search {}.".format(recipe.episode.context, "on" if recipe.episode.search else "off"),
        _table(rows),
        f"## Recipe\n\n```yaml\n{dump_recipe(recipe)}```",
        "## Versions\n\n" + ", ".join(f"{name} {version}" for name, version in versions().items() if version),
    ]
    (folder / "README.md").write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def _table(rows: list[dict[str, Any]]) -> str:
    """A table of the main metrics: means of their last logged values."""
    names = sorted({name for row in rows for name in row if name.startswith(_SHOWN)})
    values = {name: [row[name] for row in rows if name in row][-RECENT:] for name in names if name.count("/") < 3}
    if not values:
        return ""
    lines = [f"| {name} | {sum(series) / len(series):.4g} |" for name, series in values.items()]
    return "\n".join(
        [f"Means of the last {RECENT} logged training steps:", "", "| metric | mean |", "|---|---|", *lines]
    )
