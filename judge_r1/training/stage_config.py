"""What a recipe says on each stage of training: SFT, DPO and GRPO, and on low-rank adapters."""

from math import isfinite
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from judge_r1.episode.questions import TaskName
from judge_r1.files.yaml_config import ConfigModel
from judge_r1.training.verl_keys import LOSS_MODE, flatten

MAX_STEPS, MAX_EPOCHS, MAX_BATCH = 1_000_000, 1000, 65_536
"""Larger numbers in a recipe are typing errors: the order of a run's examples would not fit into memory."""


_RENAMED = {"traces": "examples", "traces_file": "rationales_file"}


class SftConfig(ConfigModel):
    """Supervised fine-tuning: on rationales (the warm-up of the paper's section 3.3) or on gold judgments."""

    form: Literal["rationales", "json", "table6", "score"] = Field(
        "rationales",
        description="rationales: whole episodes; json, table6: only the gold judgment, in the form of Table 11 or 6; "
        "score: the gold scores of both reasonings, each alone",
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
    examples: int | None = Field(None, ge=1, description="number of rationales or gold judgments; default: all")
    rationales: str | None = Field(None, description="writer of the rationales; default: the one for the cases' source")
    rationales_file: Path | None = Field(
        None, description="rationales of a teacher instead (see `judge-r1 rationales`)"
    )

    @model_validator(mode="before")
    @classmethod
    def _names_of_earlier_versions(cls, data: Any) -> Any:
        old = data if isinstance(data, dict) else {}
        found = {key: now for key, now in _RENAMED.items() if key in old}
        found |= {"form traces": "form rationales"} if old.get("form") == "traces" else {}
        if found:
            raise ValueError(", ".join(f"{before} is called {now} now" for before, now in found.items()))
        return data

    @model_validator(mode="after")
    def _one_writer(self) -> "SftConfig":
        if self.rationales is not None and self.rationales_file is not None:
            raise ValueError("rationales and rationales_file exclude each other: set one of them")
        if self.form != "rationales" and (self.rationales or self.rationales_file):
            raise ValueError(f"sft.form {self.form} trains on gold judgments: remove rationales and rationales_file")
        return self


class DpoConfig(ConfigModel):
    """Direct preference optimisation on the turn of the paper's Table 7, on two judgments of a pair, or on its two
    reasonings (the paper's appendix D). The form `scalar` trains a reward model instead: a classifier with one output,
    by the Bradley-Terry loss on the two reasonings."""

    form: Literal["table7", "judgment", "reasoning", "scalar"] = "judgment"
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


DUAL_CLIP = 3.0
"""Upper bound on the ratio of a token with negative advantage (dual-clip PPO). verl's default; off by default in TRL.
Neither engine applies it to the ratios of GSPO."""


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
    task: TaskName = Field(
        "pairwise",
        description="what an episode is shown: both reasonings of a pair; one of them, to score alone; or the "
        "reference and all flawed reasonings of a case, to choose the best",
    )
    orders: Literal[1, 2] = Field(
        1, description="2: half of a group sees the pair swapped (EIS-GRPO); each episode of a list sees it rotated"
    )
    pointwise_pairs: Literal["matched", "all"] = Field(
        "matched", description="a score is compared with that of one episode on the other reasoning, or with all"
    )
    tool_credit: Literal["none", "tir"] = Field(
        "none",
        description="tir: a tenth of the reward unless all calls and searches, at most 3, succeed (TIR-Judge)",
    )
    advantage_by_std: bool = Field(True, description="divide by the group's standard deviation; false: Dr.GRPO")
    advantage: Literal["sum", "decoupled"] = Field(
        "sum",
        description="of the summed reward, or of R1 and R2 apart, each by its deviation in the group, then of their "
        "weighted sum in the batch (GDPO)",
    )
    advantage_weights: tuple[float, float] = Field((1.0, 1.0), description="weights of R1 and R2 with decoupled")
    kl: float = Field(0.001, ge=0, le=100, description="weight of the KL term to the initial model")
    temperature: float = Field(1.0, gt=0, le=100)
    traced_pairs: int = Field(
        1,
        ge=0,
        description="pairs per step whose episodes are written to traces.jsonl (on verl: per rollout worker)",
    )

    verl: dict[str, Any] = Field(
        default_factory=dict, description="verl's own keys, nested or dotted, over those that the recipe gives it"
    )

    def agent_workers(self, gpus: int) -> int:
        """verl's processes that run episodes, spread over the nodes: one for each GPU, as each of them samples for
        itself. verl splits a batch into equal parts, so the number divides `pairs_per_step`, and groups stay whole."""
        return max(count for count in range(1, gpus + 1) if self.pairs_per_step % count == 0)

    @property
    def swaps(self) -> bool:
        """Whether the second half of a group sees its pair in the other order."""
        return self.orders == 2 and self.task == "pairwise"

    @property
    def prompts_per_step(self) -> int:
        """Groups of a step: a pair whose reasonings are scored alone has two."""
        return self.pairs_per_step * (2 if self.task == "pointwise" else 1)

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
    def _one_advantage(self) -> "GrpoConfig":
        if not all(isfinite(weight) and weight >= 0 for weight in self.advantage_weights) or not any(
            self.advantage_weights
        ):
            raise ValueError("advantage_weights are two numbers from 0 on, for R1 and R2, and not both 0")
        if self.advantage == "sum" and self.advantage_weights != (1.0, 1.0):
            raise ValueError("advantage_weights weigh the parts of advantage: decoupled: set it, or remove them")
        if self.advantage == "decoupled" and not self.advantage_by_std:
            raise ValueError(
                "advantage: decoupled divides by standard deviations, so it excludes advantage_by_std: false: remove "
                "one of them"
            )
        return self

    @model_validator(mode="after")
    def _one_task(self) -> "GrpoConfig":
        if self.orders == 2 and self.task == "pointwise":
            raise ValueError("orders: 2 swaps two candidates, and task: pointwise shows one: remove orders")
        if self.orders == 2 and self.task == "pairwise" and self.group_size % 2:
            raise ValueError(f"orders: 2 swaps half of a group: group_size {self.group_size} must be even")
        if self.pointwise_pairs == "all" and self.task != "pointwise":
            raise ValueError("pointwise_pairs compares scores: set task: pointwise, or remove it")
        if self.advantage == "decoupled" and self.tool_credit == "tir":
            raise ValueError("tool_credit: tir scales r, and advantage: decoupled reads R1 and R2: remove one of them")
        if self.advantage == "decoupled" and self.task == "listwise":
            raise ValueError("advantage: decoupled takes R1 and R2 apart, and a list names no principles: remove it")
        if self.advantage == "decoupled" and self.pointwise_pairs == "all" and self.engine == "verl":
            raise ValueError(
                "advantage: decoupled with pointwise_pairs: all is for the engine trl: verl's trainer hands over r "
                "alone, and R1 and R2 cannot be read from it where R1 is a mean"
            )
        return self

    @property
    def warmup_steps(self) -> int:
        """Steps of learning-rate warmup. Given the ratio, TRL would round up and verl down."""
        return round(self.warmup_ratio * self.steps)
