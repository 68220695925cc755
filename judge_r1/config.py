"""Recipes: one YAML file says a whole run. Unknown keys fail with a suggestion; `key=value` overrides win."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from judge_r1.episode import Budget
from judge_r1.errors import JudgeError
from judge_r1.jsonl import explain
from judge_r1.registry import suggest

S = TypeVar("S", bound="Section")


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EpisodeConfig(Section):
    """How an episode runs: what the judge sees, what it may search, what it may spend."""

    context: Literal["full", "none"] = "full"
    search: bool = True
    prompt: str = "standard"
    retriever: str = "intfloat/e5-base-v2"
    thinking: bool = False
    prompt_tokens: int = Field(12_500, ge=1)
    """A longer prompt is refused, never cut."""
    budget: Budget = Budget()

    @property
    def spending(self) -> Budget:
        """The budget in force: no searches where search is off."""
        return self.budget if self.search else self.budget.model_copy(update={"max_searches": 0})


class SftConfig(Section):
    """Supervised fine-tuning on rationale traces (the warm-up of the paper's section 3.3)."""

    epochs: float = Field(1.0, gt=0)
    max_steps: int = Field(-1, description="stop after so many steps; -1: when the epochs are over")
    batch_size: int = Field(32, ge=1)
    micro_batch_size: int = Field(32, ge=1)
    learning_rate: float = Field(1e-5, gt=0)
    warmup_ratio: float = Field(0.05, ge=0, lt=1)
    traces: int | None = Field(None, ge=1, description="use so many traces; all by default")
    rationales: str | None = Field(None, description="who writes the traces; what fits the cases' source by default")
    traces_file: Path | None = Field(
        None, description="traces by a teacher instead (`judge-r1 rationales` writes them)"
    )

    @model_validator(mode="after")
    def _one_writer(self) -> "SftConfig":
        if self.rationales is not None and self.traces_file is not None:
            raise ValueError("rationales and traces_file exclude each other: name one of them")
        return self


class GrpoConfig(Section):
    """GRPO with search in the loop (Eq. 4); defaults follow the paper's public scripts where they say anything."""

    engine: Literal["trl", "verl"] = Field("trl", description="trl: one process; verl: Ray, on all of a machine's GPUs")
    steps: int = Field(800, ge=1)
    group_size: int = Field(5, ge=2)
    pairs_per_step: int = Field(64, ge=1)
    micro_batch_size: int = Field(32, ge=1, description="episodes in one forward and backward pass")
    rollout_batch_size: int = Field(64, ge=1, description="episodes that the engine trl plays at a time")
    updates_per_step: int = Field(2, ge=1, description="optimiser steps on each batch of episodes")
    learning_rate: float = Field(1e-6, gt=0)
    warmup_ratio: float = Field(0.285, ge=0, lt=1)
    clip: float = Field(0.2, gt=0)
    kl: float = Field(0.001, ge=0, description="weight of the KL term to the model the run starts from")
    temperature: float = Field(1.0, gt=0)


class DataConfig(Section):
    train: Path = Field(description="a folder with cases.jsonl and pairs.jsonl")


class Recipe(Section):
    """Everything a training run depends on, resolved."""

    name: str
    stage: Literal["sft", "grpo"]
    model: str = Field(description="a folder, a hub name, or bundled:NAME")
    data: DataConfig
    episode: EpisodeConfig = EpisodeConfig()
    sft: SftConfig = SftConfig()
    grpo: GrpoConfig = GrpoConfig()
    seed: int = 0
    save_every: int = Field(50, ge=1, description="steps between checkpoints; a GRPO step is one batch of episodes")

    @model_validator(mode="after")
    def _whole_batches(self) -> "Recipe":
        episodes = self.grpo.pairs_per_step * self.grpo.group_size
        if self.stage == "grpo" and episodes % (self.grpo.micro_batch_size * self.grpo.updates_per_step):
            raise ValueError(
                f"grpo: {self.grpo.pairs_per_step} pairs x {self.grpo.group_size} episodes do not divide into "
                f"{self.grpo.updates_per_step} update(s) of micro-batches of {self.grpo.micro_batch_size}"
            )
        if self.stage == "sft" and self.sft.batch_size % self.sft.micro_batch_size:
            raise ValueError(f"sft.batch_size must be a multiple of sft.micro_batch_size ({self.sft.micro_batch_size})")
        return self


class BadRecipe(JudgeError):
    """A recipe that cannot be read or does not fit the schema."""


def load_recipe(path: Path, overrides: Sequence[str] = ()) -> Recipe:
    """The recipe file over the ones it `extends` (paths relative to it), then `a.b=value` overrides in order."""
    return _validated(Recipe, _read(path, ()), overrides, str(path))


def load_section(model: type[S], path: Path) -> S:
    """A YAML file of keys and values as any section; the error for an unknown key names the nearest one."""
    return _validated(model, _read(path, ()), (), str(path))


def with_options(config: EpisodeConfig, options: Sequence[str]) -> EpisodeConfig:
    """An episode configuration with `key=value` options put over it."""
    return _validated(EpisodeConfig, config.model_dump(), options, "episode options")


def dump_recipe(recipe: Recipe) -> str:
    """The resolved recipe as YAML; `load_recipe` reads it back."""
    return yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False)


def _validated(model: type[S], data: dict[str, Any], overrides: Sequence[str], where: str) -> S:
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise BadRecipe(f"override {override!r} must read key=value, for example grpo.steps=10")
        try:
            _set(data, key.split("."), yaml.safe_load(value))
        except yaml.YAMLError as error:
            raise BadRecipe(f"override {override!r} is not YAML: {' '.join(str(error).split())}") from None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise BadRecipe(f"{where}: {_explain(error, model)}") from None


def _read(path: Path, below: tuple[Path, ...]) -> dict[str, Any]:
    if path.resolve() in below:
        raise BadRecipe(f"{path} extends itself")
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadRecipe(f"{path} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadRecipe(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise BadRecipe(f"{path} must hold keys and values")
    if "extends" not in data:
        return data
    base = data.pop("extends")
    if not isinstance(base, str):
        raise BadRecipe(f"{path}: extends must be the path of one recipe file, not {base!r}")
    return _merge(_read(path.parent / base, (*below, path.resolve())), data)


def _merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _set(data: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    for key in keys[:-1]:
        data = data.setdefault(key, {})
        if not isinstance(data, dict):
            raise BadRecipe(f"override {'.'.join(keys)}: {key} is not a section")
    data[keys[-1]] = value


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    """As `jsonl.explain`, with the nearest known key for an unknown one."""
    first = next((e for e in error.errors() if e["type"] == "extra_forbidden"), None)
    if first is None:
        return explain(error)
    *sections, unknown = [str(part) for part in first["loc"]]
    for name in sections:
        annotation = model.model_fields[name].annotation
        assert isinstance(annotation, type)
        model = annotation
    return f"unknown key {'.'.join([*sections, unknown])}{suggest(unknown, model.model_fields)}"
