"""Recipes: one YAML file defines a training run. Unknown keys fail with a suggestion; `key=value` overrides win."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from judge_r1.episode.config import RecipeHead, TrainedOn
from judge_r1.episode.prompts import COMPACT, STANDARD, describes_search
from judge_r1.files.strict_yaml import dump_yaml
from judge_r1.files.yaml_config import ConfigError, ConfigModel, load_config
from judge_r1.training.shipped_recipes import find_recipe
from judge_r1.training.stage_config import MAX_STEPS, DpoConfig, GrpoConfig, LoraConfig, SftConfig

DEV_METRICS: dict[str, tuple[str, ...]] = {
    "sft": ("loss", "token_accuracy"),
    "dpo": ("loss", "preference_accuracy"),
    "grpo": ("accuracy", "reward", "label_f1"),
}
"""What chooses the best checkpoint of each stage; the first is the default. Higher is better, except for the loss."""


class DataConfig(TrainedOn, ConfigModel):
    train: Path = Field(description="folder with cases.jsonl and pairs.jsonl")
    dev: Path | None = Field(None, description="folder of held-out pairs to evaluate on during training")

    @field_validator("train", "dev", mode="before")
    @classmethod
    def _not_empty(cls, path: Any) -> Any:
        if path == "":
            raise ValueError("must not be empty: an empty path is the current folder")
        return path


Tracker = Literal["tensorboard", "trackio", "wandb"]


class Recipe(RecipeHead, ConfigModel):
    """The resolved configuration of a training run."""

    start: "Recipe | None" = Field(None, description="recipe that this one starts from; in a file: its path")
    data: DataConfig
    sft: SftConfig = SftConfig()
    dpo: DpoConfig = DpoConfig()
    grpo: GrpoConfig = GrpoConfig()
    lora: LoraConfig | None = None
    deepspeed: Literal["zero2", "zero3"] | None = Field(
        None, description="ZeRO sharding of sft and dpo on several GPUs"
    )
    seed: int = Field(0, ge=0, lt=2**32)
    trackers: tuple[Tracker, ...] = Field(
        (), description="trackers that the trainer also reports to (`report_to` of TRL, `trainer.logger` of verl)"
    )
    save_every: int = Field(
        50, ge=1, le=MAX_STEPS, description="steps between checkpoints; a step of GRPO is one batch of episodes"
    )

    eval_every: int | None = Field(
        None, ge=1, le=MAX_STEPS, description="steps between evaluations on data.dev; default: save_every"
    )
    eval_pairs: int | None = Field(None, ge=1, description="number of dev pairs, chosen by the seed; default: all")
    best_metric: Literal["accuracy", "reward", "label_f1", "loss", "token_accuracy", "preference_accuracy"] | None = (
        Field(None, description="what chooses the best checkpoint; default: accuracy for grpo, loss for sft and dpo")
    )
    keep: Literal["last", "best"] = Field("last", description="the weights that `model` holds at the end")

    @field_validator("name")
    @classmethod
    def _names_a_folder(cls, name: str) -> str:
        if not name.isprintable() or any(part.strip() in ("", ".", "..") for part in name.split("/")):
            raise ValueError("must name a folder below runs/: printable, not empty, and not .. or an absolute path")
        return name

    def evaluates_at(self, step: int, last: int) -> bool:
        """Whether the run evaluates on the dev pairs after `step` of `last` steps."""
        return self.data.dev is not None and (step >= last or step % (self.eval_every or self.save_every) == 0)

    @property
    def lora_rank(self) -> int | None:
        """None if all weights are trained."""
        return self.lora.rank if self.lora else None

    @property
    def on_verl(self) -> bool:
        """Whether this is GRPO on the engine verl."""
        return self.stage == "grpo" and self.grpo.engine == "verl"

    @property
    def prefers(self) -> bool:
        """Whether this is DPO, which has a frozen reference model, and not a reward model."""
        return self.stage == "dpo" and self.dpo.form != "scalar"

    @property
    def updates(self) -> int:
        """Optimiser steps in one step of the recipe."""
        return self.grpo.updates_per_step if self.stage == "grpo" else 1

    @model_validator(mode="before")
    @classmethod
    def _model_of_start(cls, data: Any) -> Any:
        """Default `model` to runs/NAME/model of `start`, unless it already names another NAME/model folder."""
        start = data.get("start") if isinstance(data, dict) else None
        name = start.get("name") if isinstance(start, dict) else None
        if not name or Path(str(data.get("model"))).parts[-2:] == (str(name), "model"):
            return data
        return data | {"model": f"runs/{name}/model"}

    @model_validator(mode="after")
    def _whole_batches(self) -> "Recipe":
        grpo, episodes = self.grpo, self.grpo.prompts_per_step * self.grpo.group_size
        pairs = "2 x grpo.pairs_per_step" if grpo.task == "pointwise" else "grpo.pairs_per_step"
        if self.stage == "grpo" and episodes % (grpo.micro_batch_size * grpo.updates_per_step):
            whole, rest = divmod(episodes, grpo.updates_per_step)
            fits = max(n for n in range(1, min(whole, grpo.micro_batch_size) + 1) if whole % n == 0) if not rest else 0
            raise ValueError(
                f"{pairs} x grpo.group_size ({episodes} episodes) must be a multiple of "
                f"grpo.updates_per_step x grpo.micro_batch_size ({grpo.updates_per_step} x {grpo.micro_batch_size})"
                + (f": grpo.micro_batch_size={fits} fits" if fits else ": choose another number of updates")
            )
        part = self.sft if self.stage == "sft" else self.dpo
        if self.stage != "grpo" and part.batch_size % part.micro_batch_size:
            field = f"{self.stage}.micro_batch_size"
            raise ValueError(f"{self.stage}.batch_size must be a multiple of {field} ({part.micro_batch_size})")
        return self

    @model_validator(mode="after")
    def _evaluates(self) -> "Recipe":
        if self.data.dev is None and self.keep == "best":
            raise ValueError("keep best needs pairs to choose by: set data.dev")
        if self.data.dev is not None and (self.eval_every or self.save_every) % self.save_every:
            raise ValueError(
                f"eval_every {self.eval_every} must be a multiple of save_every {self.save_every}, because the best "
                "model is a checkpoint"
            )
        if self.best_metric is not None and self.best_metric not in DEV_METRICS[self.stage]:
            raise ValueError(f"best_metric of {self.stage} is {' or '.join(DEV_METRICS[self.stage])}")
        if self.data.dev is not None and self.stage == "sft" and self.sft.rationales_file is not None:
            raise ValueError("sft.rationales_file has no rationales of the dev pairs: remove data.dev")
        return self

    @model_validator(mode="after")
    def _one_turn(self) -> "Recipe":
        """Single-turn answers need an episode without searches and a prompt that asks for their form."""
        form = self.sft.form if self.stage == "sft" else "rationales"
        if self.episode.search and (form != "rationales" or (self.stage == "dpo" and self.dpo.form == "judgment")):
            which = f"sft.form {form}" if self.stage == "sft" else "dpo.form judgment"
            raise ValueError(f"{which} is a single-turn answer without searches: set episode.search to false")
        if self.episode.tools and (self.stage == "dpo" or form != "rationales"):
            raise ValueError(f"{self.stage} trains single-turn answers here, which call no tools: remove episode.tools")
        style = self.episode.prompt
        if self.stage != "dpo" and self.episode.search and not describes_search(style):
            raise ValueError(f"episode.prompt {style} does not describe searches: set episode.search to false")
        if self.stage == "sft" and (form == "table6") != (self.episode.prompt == "table6"):
            raise ValueError(f"sft.form {form} and episode.prompt {self.episode.prompt} ask for different answers")
        return self

    @model_validator(mode="after")
    def _shows_the_task(self) -> "Recipe":
        style, alone = self.episode.prompt, self.stage == "sft" and self.sft.form == "score"
        if style not in (STANDARD, COMPACT) and (alone or (self.stage == "grpo" and self.grpo.task != "pairwise")):
            what = "sft.form score" if alone else f"grpo.task {self.grpo.task}"
            raise ValueError(f"episode.prompt {style} compares two reasonings: {what} needs {STANDARD} or {COMPACT}")
        return self

    @model_validator(mode="after")
    def _sharded(self) -> "Recipe":
        if self.stage == "dpo" and self.dpo.form == "scalar" and (self.lora or self.keep == "best"):
            raise ValueError("dpo.form scalar trains all weights, and its model is the last: remove lora and keep best")
        if self.deepspeed and self.stage == "grpo":
            raise ValueError("deepspeed is for sft and dpo: for GRPO on several GPUs set grpo.engine to verl")
        return self


def load_recipe(path: Path, overrides: Sequence[str] = ()) -> Recipe:
    """Load a recipe file over the ones that it `extends` (relative paths), then apply `a.b=value` overrides in order.

    Raises:
        ConfigError: A file cannot be read, or does not fit the schema.
    """
    recipe = load_config(Recipe, find_recipe(path), overrides, files=("start",), dotted=("grpo.verl",))
    if recipe.start is not None and any(override.partition("=")[0] == "model" for override in overrides):
        raise ConfigError(
            f"{path} trains the model of {recipe.start.name}: set start.model to start from another one, "
            "or start=null to train `model` directly"
        )
    return recipe


def dump_recipe(recipe: Recipe) -> str:
    """The resolved recipe as YAML, which `load_recipe` reads."""
    return dump_yaml(recipe.model_dump(mode="json"))
