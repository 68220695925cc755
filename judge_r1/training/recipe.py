"""Recipes: one YAML file defines a training run. Unknown keys fail with a suggestion; `key=value` overrides win."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, field_validator, model_validator

from judge_r1.core.located_verdicts import JOINT, Shaping
from judge_r1.core.yaml_config import ConfigError, ConfigModel, load_config
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import describes_search
from judge_r1.training.shipped_recipes import find_recipe
from judge_r1.training.verl.extra_keys import LOSS_MODE, flatten

MAX_STEPS, MAX_EPOCHS, MAX_BATCH = 1_000_000, 1000, 65_536
"""Larger numbers in a recipe are typing errors: the order of a run's examples would not fit into memory."""


class SftConfig(ConfigModel):
    """Supervised fine-tuning: on rationale traces (the warm-up of the paper's section 3.3) or on gold judgments."""

    form: Literal["traces", "json", "table6"] = Field(
        "traces",
        description="traces: whole episodes; json, table6: only the gold judgment, in the form of Table 11 or 6",
    )
    epochs: float = Field(1.0, gt=0, le=MAX_EPOCHS)
    max_steps: int = Field(-1, ge=-1, le=MAX_STEPS, description="number of steps; -1: as many as the epochs have")
    batch_size: int = Field(32, ge=1, le=MAX_BATCH)
    micro_batch_size: int = Field(32, ge=1, le=MAX_BATCH)
    learning_rate: float = Field(1e-5, gt=0, le=1)
    warmup_ratio: float = Field(0.05, ge=0, lt=1)
    packing: bool = Field(False, description="several examples per row, each attending only to itself")
    by_length: bool = Field(
        True,
        description="batches of examples of similar length: less padding. Each token of the run has the same weight. "
        "false: random batches, each with the mean over its own tokens",
    )
    traces: int | None = Field(None, ge=1, description="number of traces; default: all")
    rationales: str | None = Field(None, description="writer of the traces; default: the one for the cases' source")
    traces_file: Path | None = Field(None, description="traces of a teacher instead (see `judge-r1 rationales`)")

    @model_validator(mode="after")
    def _one_writer(self) -> "SftConfig":
        if self.rationales is not None and self.traces_file is not None:
            raise ValueError("rationales and traces_file exclude each other: set one of them")
        if self.form != "traces" and (self.rationales or self.traces_file):
            raise ValueError(f"sft.form {self.form} trains on gold judgments: remove rationales and traces_file")
        return self


class DpoConfig(ConfigModel):
    """Direct preference optimisation on the turn of the paper's Table 7, on two judgments of a pair, or on its two
    reasonings (the paper's appendix D)."""

    form: Literal["table7", "judgment", "reasoning"] = "judgment"
    epochs: float = Field(1.0, gt=0, le=MAX_EPOCHS)
    max_steps: int = Field(-1, ge=-1, le=MAX_STEPS, description="number of steps; -1: as many as the epochs have")
    batch_size: int = Field(32, ge=1, le=MAX_BATCH)
    micro_batch_size: int = Field(4, ge=1, le=MAX_BATCH)
    learning_rate: float = Field(5e-6, gt=0, le=1)
    warmup_ratio: float = Field(0.1, ge=0, lt=1)
    beta: float = Field(0.1, gt=0, le=100)


class LoraConfig(ConfigModel):
    """Low-rank adapters on all linear layers instead of full fine-tuning. The saved model has them merged."""

    rank: int = Field(64, ge=1, le=MAX_BATCH)
    alpha: int = Field(128, ge=1, le=MAX_BATCH)


class GrpoConfig(ConfigModel):
    """GRPO with search in the loop (Eq. 4). Defaults follow the paper's public scripts where those set a value."""

    engine: Literal["trl", "verl"] = Field("trl", description="trl: one process; verl: Ray, on all GPUs")
    steps: int = Field(800, ge=1, le=MAX_STEPS)
    group_size: int = Field(5, ge=2, le=MAX_BATCH)
    pairs_per_step: int = Field(64, ge=1, le=MAX_BATCH)
    micro_batch_size: int = Field(32, ge=1, le=MAX_BATCH, description="episodes in one forward and backward pass")
    rollout_batch_size: int = Field(
        64, ge=1, le=MAX_BATCH, description="episodes that the engine trl samples in one batch"
    )
    updates_per_step: int = Field(2, ge=1, le=MAX_BATCH, description="optimiser steps per batch of episodes")
    learning_rate: float = Field(1e-6, gt=0, le=1)
    warmup_ratio: float = Field(0.285, ge=0, lt=1)
    clip: float = Field(0.2, gt=0, le=100)
    clip_high: float | None = Field(None, gt=0, le=100, description="upper clip if different (DAPO's clip-higher)")
    ratio: Literal["token", "sequence"] = Field("token", description="sequence: importance ratios as in GSPO")
    loss: Literal["token-mean", "sequence-mean", "constant"] = Field(
        "token-mean",
        description="mean over all tokens; mean over episodes of their means; sum divided by a constant (Dr.GRPO)",
    )
    advantage_by_std: bool = Field(True, description="divide by the group's standard deviation; false: Dr.GRPO")
    dynamic_sampling: bool = Field(False, description="replace groups with identical outcomes (DAPO)")
    kl: float = Field(0.001, ge=0, le=100, description="weight of the KL term to the initial model")
    temperature: float = Field(1.0, gt=0, le=100)
    shaping: Shaping = Field(
        JOINT,
        description="reward of conversations: weights of the better side, of side and round, and of all three parts; "
        "they add up to 1. Default: all three",
    )
    async_mode: Literal["colocate", "separate"] | None = Field(
        None,
        description="verl: sample while training. colocate: on the same GPUs, unfinished episodes continue after the "
        "update; separate: on `rollout_gpus`",
    )
    rollout_gpus: int = Field(0, ge=0, le=MAX_BATCH, description="GPUs of each node that only sample (separate)")
    traced_pairs: int = Field(
        1,
        ge=0,
        description="pairs per step whose episodes are written to traces.jsonl (on verl: per rollout worker)",
    )

    verl: dict[str, Any] = Field(
        default_factory=dict, description="verl's own keys, nested or dotted, over those that the recipe gives it"
    )

    @field_validator("shaping")
    @classmethod
    def _adds_up(cls, shaping: Shaping) -> Shaping:
        shaping.check()
        return shaping

    @field_validator("verl", mode="before")
    @classmethod
    def _verls_keys(cls, keys: Any) -> Any:
        return flatten(keys) if isinstance(keys, dict) else keys

    @model_validator(mode="after")
    def _keys_of_the_engine(self) -> "GrpoConfig":
        if self.verl and self.engine != "verl":
            raise ValueError("verl holds keys of the engine verl: set grpo.engine=verl, or grpo.verl={}")
        if self.ratio == "sequence" and LOSS_MODE in self.verl:
            raise ValueError(f"ratio: sequence and verl's {LOSS_MODE} exclude each other: set one of them")
        return self

    @model_validator(mode="after")
    def _asynchronous(self) -> "GrpoConfig":
        if self.async_mode and self.engine != "verl":
            raise ValueError("async_mode needs the engine verl: set grpo.engine=verl")
        if self.async_mode and self.dynamic_sampling:
            raise ValueError(
                "dynamic_sampling has no bound on redraws in verl's asynchronous modes: use one of the two"
            )
        if (self.async_mode == "separate") != (self.rollout_gpus > 0):
            raise ValueError("async_mode separate and rollout_gpus belong together: set both, or none")
        return self

    @property
    def warmup_steps(self) -> int:
        """Steps of learning-rate warmup. Given the ratio, TRL would round up and verl down."""
        return round(self.warmup_ratio * self.steps)


DEV_METRICS: dict[str, tuple[str, ...]] = {
    "sft": ("loss", "token_accuracy"),
    "dpo": ("loss", "preference_accuracy"),
    "grpo": ("accuracy", "reward", "label_f1"),
}
"""What chooses the best checkpoint of each stage; the first is the default. Higher is better, except for the loss."""


class DataConfig(ConfigModel):
    train: Path = Field(description="folder with cases.jsonl and pairs.jsonl")
    dev: Path | None = Field(None, description="folder of held-out pairs to evaluate on during training")

    @field_validator("train", "dev", mode="before")
    @classmethod
    def _not_empty(cls, path: Any) -> Any:
        if path == "":
            raise ValueError("must not be empty: an empty path is the current folder")
        return path


class Recipe(ConfigModel):
    """The resolved configuration of a training run."""

    name: str
    stage: Literal["sft", "dpo", "grpo"]
    start: "Recipe | None" = Field(None, description="recipe that this one starts from; in a file: its path")
    model: str = Field(min_length=1, description="folder, hub name or bundled:NAME; with `start`, its trained model")
    data: DataConfig
    episode: EpisodeConfig = EpisodeConfig()
    sft: SftConfig = SftConfig()
    dpo: DpoConfig = DpoConfig()
    grpo: GrpoConfig = GrpoConfig()
    lora: LoraConfig | None = None
    deepspeed: Literal["zero2", "zero3"] | None = Field(
        None, description="ZeRO sharding of sft and dpo on several GPUs"
    )
    seed: int = Field(0, ge=0, lt=2**32)
    trackers: tuple[Literal["tensorboard", "trackio", "wandb"], ...] = Field(
        (), description="trackers that also receive the metrics"
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
    def on_verl(self) -> bool:
        """Whether this is GRPO on the engine verl."""
        return self.stage == "grpo" and self.grpo.engine == "verl"

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
        episodes = self.grpo.pairs_per_step * self.grpo.group_size
        if self.stage == "grpo" and episodes % (self.grpo.micro_batch_size * self.grpo.updates_per_step):
            raise ValueError(
                f"grpo: {self.grpo.pairs_per_step} pairs x {self.grpo.group_size} episodes do not divide into "
                f"{self.grpo.updates_per_step} update(s) of micro-batches of {self.grpo.micro_batch_size}"
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
        if self.data.dev is not None and self.stage == "sft" and self.sft.traces_file is not None:
            raise ValueError("sft.traces_file has no traces of the dev pairs: remove data.dev")
        return self

    @model_validator(mode="after")
    def _one_turn(self) -> "Recipe":
        """Single-turn answers need an episode without searches and a prompt that asks for their form."""
        form = self.sft.form if self.stage == "sft" else "traces"
        if self.episode.search and (form != "traces" or (self.stage == "dpo" and self.dpo.form == "judgment")):
            which = f"sft.form {form}" if self.stage == "sft" else "dpo.form judgment"
            raise ValueError(f"{which} is a single-turn answer without searches: set episode.search to false")
        style = self.episode.prompt
        if self.stage != "dpo" and self.episode.search and not describes_search(style):
            raise ValueError(f"episode.prompt {style} does not describe searches: set episode.search to false")
        if self.stage == "sft" and (form == "table6") != (self.episode.prompt == "table6"):
            raise ValueError(f"sft.form {form} and episode.prompt {self.episode.prompt} ask for different answers")
        return self

    @model_validator(mode="after")
    def _sharded(self) -> "Recipe":
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
    return yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False)
