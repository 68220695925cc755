"""Refuses to build over a data set that was built with other options."""

from pathlib import Path
from typing import Any

from data_builders.build_recipe import BuildRecipe
from data_builders.dataset_type import BUILD_FILE, read_report
from data_builders.generators.base import RULES_VERSION
from data_builders.perturb.pair_checks import RULES
from data_builders.teachers.spec import parse_spec
from judge_r1.core.errors import JudgeError

CONVERSATION_VERIFIER = "conversation_verifier"


class OtherBuild(JudgeError):
    """The folder holds a data set that was built with other options."""


def refuse_other_build(out: Path, recipe: BuildRecipe) -> None:
    """Compare a build with the one that `out` holds. Options that its build.json does not record are not compared.

    Raises:
        OtherBuild: They differ in an option. The message names the first one.
    """
    file = out / BUILD_FILE
    report = read_report(file) if file.is_file() else {}
    built = _recorded(report)
    if not built:
        return
    wanted: dict[str, Any] = {
        "source": recipe.source,
        "teacher": _teacher(recipe.teacher),
        # a teacher of conversations verifies itself where there is no other verifier
        "verify": _teacher(recipe.specs[-1]) if recipe.verify or CONVERSATION_VERIFIER in report else None,
        "keep": recipe.keep if recipe.verify else None,
        **recipe.recorded,
        "rules": RULES_VERSION,
    }
    for option, value in wanted.items():
        if option in built and built[option] != value:
            raise OtherBuild(
                f"{out} holds a build with {_described(option, built[option])}, and this one has "
                f"{_described(option, value)}: choose another --out, or add --overwrite to replace it"
            )


def _recorded(report: dict[str, Any]) -> dict[str, Any]:
    """The options in a build report. Generators that read no corpus record their name and the seed."""
    if "source" not in report:
        if "generator" not in report:
            return {}
        own: dict[str, Any] = {name: report[name] for name in ("path", "limit", "options") if name in report}
        return {"source": report["generator"], "seed": report.get("seed"), **own}
    teacher = report.get("teacher")
    verifier = report.get("verifier") or report.get(CONVERSATION_VERIFIER) or {}
    unset: dict[str, Any] = dict.fromkeys(("prompts", "candidates", "per_principle"))
    verified = {"verify": verifier.get("name"), **({"keep": verifier["keep"]} if "keep" in verifier else {})}
    return {**unset, **verified, **report, "teacher": teacher["name"] if isinstance(teacher, dict) else RULES}


def _teacher(spec: str) -> str:
    """The name of a teacher in a build report."""
    return RULES if spec == RULES else parse_spec(spec).name


def _described(option: str, value: Any) -> str:
    if option == "source":
        return f"the source {value}"
    if option == "rules":
        return f"version {value} of the rules"
    if value is None or value == {}:
        return f"no {option}"
    return f"{option}={','.join(value) if isinstance(value, list) else value}"
