"""Every option of the recipe reaches TRL's loss and advantage, which equal the plain formulas."""

from pathlib import Path
from typing import Any

import pytest
import torch
from factories import mini_pairs
from grpo_formulas import (
    ADVANTAGES,
    CASES,
    FAILED_MASK,
    LENGTH,
    MASK,
    NEW,
    OLD,
    Options,
    loss_with_a_failure,
    policy_loss,
)  # fmt: skip
from toy_model import toy_model
from toy_trainer import toy_trainer

from data_builders.build import write_pairs
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.models.hub import load_model
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import DataConfig, Recipe
from judge_r1.training.stage_config import GrpoConfig, LoraConfig
from judge_r1.training.trl.grpo import trl_objective


def recipe(**grpo: Any) -> Recipe:
    budget = Budget(max_searches=0, response_tokens=LENGTH)
    return Recipe(
        name="test",
        stage="grpo",
        model=str(toy_model()),
        data=DataConfig(train=Path("none")),
        episode=EpisodeConfig(search=False, budget=budget),
        grpo=GrpoConfig(group_size=2, pairs_per_step=1, micro_batch_size=2, updates_per_step=1, **grpo),
    )


def loss_of(trainer: Any, in_loss: list[list[int]]) -> float:
    """TRL's loss of the two episodes, with `in_loss` as their mask."""
    ones, mask = torch.ones(2, LENGTH, dtype=torch.long), torch.tensor(in_loss)
    inputs = {
        "prompt_ids": ones[:, :1], "prompt_mask": ones[:, :1], "completion_ids": ones, "completion_mask": ones,
        "tool_mask": mask, "old_per_token_logps": torch.tensor(OLD), "advantages": torch.tensor(ADVANTAGES),
        "num_items_in_batch": mask.sum(),
    }  # fmt: skip
    return float(trainer._compute_loss(trainer.model, inputs))


@pytest.mark.parametrize("grpo", CASES, ids=str)
def test_the_loss_of_trl_equals_the_formula(tmp_path: Path, grpo: dict[str, Any]) -> None:
    """A failed episode stays in the denominator of means over episodes."""
    trainer, new, options = (
        toy_trainer(tmp_path, **trl_objective(recipe(kl=0.0, **grpo))),
        torch.tensor(NEW),
        Options.of(grpo),
    )
    trainer._get_per_token_logps_and_entropies = lambda *_, **__: (new, torch.zeros_like(new), None)
    wanted = [policy_loss(NEW, OLD, MASK, ADVANTAGES, options), loss_with_a_failure(options)]
    assert [loss_of(trainer, mask) for mask in (MASK, FAILED_MASK)] == pytest.approx(wanted, rel=1e-5)


def test_every_option_changes_the_loss() -> None:
    """Control: on these numbers, no two options have the same loss."""
    losses = [policy_loss(NEW, OLD, MASK, ADVANTAGES, Options.of(grpo)) for grpo in CASES]
    assert len({round(loss, 6) for loss in losses}) == len(CASES)


def test_keys_are_fields_of_trls_config() -> None:
    from trl import GRPOConfig

    fields = set(GRPOConfig.__dataclass_fields__)
    assert set(trl_objective(recipe())) <= fields
    assert trl_objective(recipe(advantage_by_std=False))["scale_rewards"] == "none"
    assert trl_objective(recipe())["scale_rewards"] == "group"


def test_lora_training_saves_a_model_without_adapters(tmp_path: Path) -> None:
    write_pairs(mini_pairs(6), tmp_path / "data")
    small = recipe(steps=1, learning_rate=1e-2, warmup_ratio=0).model_copy(
        update={
            "data": DataConfig(train=tmp_path / "data"),
            "episode": EpisodeConfig(
                context="none", prompt="compact", retriever="bm25", prompt_tokens=400,
                budget=Budget(max_searches=1, top_k=1, passage_words=3, response_tokens=24, observation_tokens=32),
            ),
            "lora": LoraConfig(rank=2, alpha=4),
        }
    )  # fmt: skip
    grpo = small.grpo.model_copy(update={"pairs_per_step": 4, "group_size": 4, "micro_batch_size": 16})
    run_recipe(small.model_copy(update={"grpo": grpo}), tmp_path / "run")
    assert not list((tmp_path / "run" / "model").glob("adapter*"))
    trained, base = load_model(str(tmp_path / "run" / "model")), load_model(str(toy_model()))
    assert trained.state_dict().keys() == base.state_dict().keys()
    frozen = [name for name in base.state_dict() if "norm" in name or "embed" in name]
    assert all(torch.equal(trained.state_dict()[name], base.state_dict()[name]) for name in frozen)
