"""Tables of the differences between runs: recipe keys and package versions."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from judge_r1.evaluation.report.discovery import TrainingRun
from judge_r1.evaluation.report.tables import NONE, Grid
from judge_r1.files.strict_json import read_checked

STAGES = ("sft", "dpo", "grpo")


def recipe_grid(runs: Sequence[TrainingRun]) -> Grid | None:
    """The recipe keys whose values differ between runs; None if there are none. The section of a stage applies only to
    runs of that stage."""
    recipes: list[dict[str, Any]] = [dict(run.recipe) for run in runs]
    for section in ("start", "lora"):  # if some runs have none, the section is compared as one value
        if any(recipe.get(section) is None for recipe in recipes):
            recipes = [recipe | {section: _as_value(recipe.get(section))} for recipe in recipes]
    values_by_run = [
        {key: value for key, value in flat(recipe).items() if _applies(key, run)}
        for recipe, run in zip(recipes, runs, strict=True)
    ]
    return _grid("Recipes: what differs", "Keys with the same value in all runs are left out.", runs, values_by_run)


def version_grid(runs: Sequence[TrainingRun]) -> Grid | None:
    """The packages whose versions differ between the runs that recorded them."""
    files = [run.folder / "versions.json" for run in runs]
    shape = TypeAdapter(dict[str, str | None])
    values_by_run = [read_checked(file, shape) if file.exists() else {} for file in files]
    return _grid("Versions: what differs", "Packages that the runs used.", runs, values_by_run)


def flat(data: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Nested sections with keys such as `a.b.c`."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        found |= flat(value, f"{above}{key}.") if isinstance(value, Mapping) else {above + key: value}
    return found


def _as_value(section: Mapping[str, Any] | None) -> str | None:
    """A section as one value: its name if it has one, else its keys and values."""
    if section is None:
        return None
    return str(section["name"]) if "name" in section else ", ".join(f"{key} {value}" for key, value in section.items())


def _applies(key: str, run: TrainingRun) -> bool:
    section = key.partition(".")[0]
    return section not in STAGES or section == run.stage


def _grid(
    title: str, note: str, runs: Sequence[TrainingRun], values_by_run: Sequence[Mapping[str, Any]]
) -> Grid | None:
    keys = list(dict.fromkeys(key for values in values_by_run for key in values))
    differing = tuple(
        (key, *(_text(values.get(key)) for values in values_by_run))
        for key in keys
        if len({_text(values[key]) for values in values_by_run if key in values}) > 1
    )
    return Grid(title, note, ("key", *(run.name for run in runs)), differing) if differing else None


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or NONE
    return NONE if value is None else str(value).lower() if isinstance(value, bool) else str(value)
