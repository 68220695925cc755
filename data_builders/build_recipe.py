"""The recipe of a build: one YAML file, or a source with `key=value` options."""

from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator

from data_builders.build import build_by_teacher
from data_builders.dataset_type import BUILD_FILE, read_report
from data_builders.generators.base import RULES_VERSION, BuildPlan
from data_builders.perturb.pair_checks import RULES
from data_builders.teacher_session import SessionOptions, SessionResult, run_session
from data_builders.teachers import Teacher
from data_builders.teachers.spec import FORMS, parse_spec
from judge_r1.core.errors import JudgeError
from judge_r1.files.yaml_config import ConfigModel, load_config, validated
from judge_r1.training.shipped_recipes import find_recipe

_BY_TEACHER = {"candidates", "per_principle", "verify", "prompts", "early_stop", "rationales"} | {
    *SessionOptions.model_fields
}
"""Keys that have no effect on a build by rules."""


class RationalesPart(ConfigModel):
    """Rationales that the teacher writes about the pairs."""

    recipe: Path = Field(description="its episode says what is shown, searched and spent; its model, how tokens count")
    count: int = Field(2000, ge=1, description="rationales to write")


class RationalesRecipe(SessionOptions, RationalesPart):
    """All options of `judge-r1 rationales`."""

    teacher: str = Field(description=FORMS)

    @field_validator("teacher")
    @classmethod
    def _asked(cls, teacher: str) -> str:
        if teacher == RULES:
            raise ValueError("`train` writes rationales by rules itself: leave sft.rationales_file out of its recipe")
        return teacher


class BuildRecipe(SessionOptions, BuildPlan):
    """All options of a build."""

    teacher: str = Field(RULES, description=f"{RULES}, {FORMS}")
    verify: str | None = Field(None, description="a teacher that judges the pairs blind, the same or another one")
    rationales: RationalesPart | None = Field(
        None,
        description="rationales.recipe=FILE rationales.count=N: the teacher writes rationales of the pairs, too, to "
        "OUT/rationales",
    )

    @property
    def by_rules(self) -> bool:
        return self.teacher == RULES

    @property
    def specs(self) -> list[str]:
        """The SPECs of the teacher and, if there is one, of the verifier."""
        return [self.teacher, *([self.verify] if self.verify else [])]

    @model_validator(mode="after")
    def _consistent(self) -> "BuildRecipe":
        if "keep" in self.model_fields_set and self.verify is None:
            raise ValueError("keep chooses among pairs by the answers of a verifier: give verify=SPEC, or leave it out")
        if self.by_rules and (given := self.given & _BY_TEACHER):
            raise ValueError(f"{min(given)} is for flaws by a model: add teacher={FORMS}, or leave it out")
        if self.candidates is not None and self.candidates < self.variants:
            raise ValueError(f"candidates is {self.variants} or more, as many as variants, not {self.candidates}")
        if self.batch_export and self.verify:
            raise ValueError("batch_export takes one teacher: give verify after the batches have brought all variants")
        if self.batch_export and self.rationales:
            raise ValueError("rationales need the pairs, which a batch does not give at once: leave batch_export out")
        return self


def build(recipe: BuildRecipe, out: Path) -> SessionResult[dict[str, Any]]:
    """Build with a teacher, or write the next batch.

    Raises: JudgeError, which says how to resume.
    """
    recipe = recipe.in_folder(out)
    spending = recipe.spending()

    def work(teachers: Sequence[Teacher]) -> Coroutine[Any, Any, dict[str, Any]]:
        second = teachers[1] if recipe.verify else None
        return build_by_teacher(
            recipe, out, teachers[0], verifier=second, spending=spending, concurrency=recipe.concurrency
        )

    return run_session(recipe.specs, work, recipe, spending)


def load_build(source: str, overrides: Sequence[str] = ()) -> BuildRecipe:
    """The recipe of the YAML file `source` (which may be a shipped one), or of the corpus or generator of that name.

    Raises:
        ConfigError: A key or a value is not valid.
    """
    if source.endswith((".yaml", ".yml")):
        return load_config(BuildRecipe, find_recipe(Path(source)), overrides)
    return validated(BuildRecipe, {"source": source}, overrides, f"build of {source}")


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
