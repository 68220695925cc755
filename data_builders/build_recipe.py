"""The recipe of a build: one YAML file, or a source with `key=value` options."""

from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator

from data_builders.build import build_by_teacher
from data_builders.generators.base import BuildPlan
from data_builders.perturb.pair_checks import RULES
from data_builders.teacher_session import SessionOptions, SessionResult, run_session
from data_builders.teachers import Teacher
from data_builders.teachers.spec import FORMS
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
