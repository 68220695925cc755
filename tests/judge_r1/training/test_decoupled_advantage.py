"""The decoupled advantage (GDPO, arXiv 2601.05242) on hand-computed cases, by TRL's trainer and by verl's dispatch."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from toy_model import toy_model

from data_builders.build import write_pairs
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.episode.reward import combine, f1, reward_parts, round_reward
from judge_r1.files.pair_set import load_pairs
from judge_r1.models.base import Sampling
from judge_r1.training.recipe import DataConfig, Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.stage_config import GrpoConfig

A = [(2, 1), (2, -1), (2, 1), (-2, -1)]
B = [(2, 1), (2, -1), (2, -1), (2, -1)]
BY_HAND = [1.0236, -0.2743, 1.0236, -1.7730, 1.1240, -0.3747, -0.3747, -0.3747]
"""R1 and R2 of the episodes of two groups, and their advantages."""
THIRDS = [(2, 1 / 3), (2, -1), (-2, 1 / 3), (2, 1 / 3)]
EQUAL = [(2, 1 / 3)] * 4
FAILED = (math.nan, math.nan)
BATCHES: dict[str, tuple[list[list[tuple[float, float]]], tuple[float, float]]] = {
    "by hand": ([A, B], (1, 1)),
    "weights": ([A, B], (0.5, 2)),
    "R2 alone": ([A, THIRDS], (0, 1)),
    "equal rewards": ([EQUAL, THIRDS], (1, 1)),
    "a failure": ([[*A[:3], FAILED], B], (1, 1)),
    "one left": ([A, [FAILED, FAILED, FAILED, (2, 1)]], (1, 1)),
}


def formula(groups: Sequence[Sequence[tuple[float, float]]], weights: tuple[float, float]) -> list[float]:
    """A plain derivation: each part by its group, the weighted sum by the batch, failures left out."""

    def normal(values: list[float]) -> list[float]:
        mean = sum(values) / len(values)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)) if len(values) > 1 else 0.0
        return [(v - mean) / (deviation + 1e-4) for v in values]

    sums: list[float | None] = []
    for group in groups:
        scored = [parts for parts in group if not math.isnan(parts[0])]
        by_part = [normal([parts[k] for parts in scored]) for k in (0, 1)]
        total = iter([sum(w * a for w, a in zip(weights, pair, strict=True)) for pair in zip(*by_part, strict=True)])
        sums += [None if math.isnan(parts[0]) else next(total) for parts in group]
    found = iter(normal([value for value in sums if value is not None]))
    return [0.0 if value is None else next(found) for value in sums]


def test_the_formula_gives_the_numbers_computed_by_hand() -> None:
    assert formula([A, B], (1, 1)) == pytest.approx(BY_HAND, abs=5e-4)


@pytest.mark.parametrize("name", BATCHES)
def test_verl_gives_the_formulas_advantages(name: str) -> None:
    pytest.importorskip("verl", reason="verl is not installed: pip install 'judge-r1[verl]'")
    import numpy as np
    import torch
    from verl import DataProto
    from verl.trainer.config import AlgoConfig
    from verl.trainer.ppo.ray_trainer import compute_advantage

    from judge_r1.training.verl.advantage import DECOUPLED

    groups, weights = BATCHES[name]
    episodes = [parts for group in groups for parts in group]
    rewards, mask = torch.zeros(len(episodes), 5), torch.ones(len(episodes), 5)
    mask[:, 2] = 0  # an observation
    for row, parts in enumerate(episodes):
        if math.isnan(parts[0]):
            mask[row] = 0
        else:
            mask[row, 3 + row % 2 :] = 0  # episodes of different lengths weigh the same
            rewards[row, 0] = round_reward(combine(*parts))
    data = DataProto.from_dict(
        tensors={"token_level_rewards": rewards, "response_mask": mask},
        non_tensors={"uid": np.array([number for number, group in enumerate(groups) for _ in group], dtype=object)},
    )
    config = AlgoConfig(adv_estimator=DECOUPLED, gdpo_reward_weights=list(weights))
    found = compute_advantage(data, adv_estimator=DECOUPLED, config=config).batch["advantages"]
    assert found[:, 0].tolist() == pytest.approx(formula(groups, weights), abs=1e-5)
    assert torch.equal(found, found[:, :1] * mask)


class Given:
    """Episodes with these parts of the reward, as a source of a training run."""

    def __init__(self, groups: Sequence[Sequence[tuple[float, float]]]) -> None:
        self.parts = [parts for group in groups for parts in group]

    def run(self, pairs: Sequence[ReasoningPair], sampling: Sampling) -> list[Trajectory]:
        return [_trajectory(*parts) for parts in self.parts]


def _trajectory(r1: float, r2: float) -> Trajectory:
    failed = math.isnan(r1)
    reward = {
        "r": combine(r1, r2),
        "R1": r1,
        "R2": r2,
        "F1": r2 / 2 + 0.5,
        "precision": 1.0,
        "recall": 1.0,
        "valid": 1.0,
    }
    return Trajectory(
        prompt_ids=(5, 6), token_ids=(7, 8), loss_mask=(1, 1), logprobs=(-1.0, -1.0), turns=(), judgment=None,
        ended="infrastructure_x" if failed else "answer", reward=None if failed else reward,
    )  # fmt: skip


def recipe(folder: Path, **grpo: Any) -> Recipe:
    episode = EpisodeConfig(
        context="none", prompt="compact", search=False, prompt_tokens=400,
        budget=Budget(max_searches=0, response_tokens=24),
    )  # fmt: skip
    sizes = {"steps": 1, "group_size": 4, "pairs_per_step": 2, "micro_batch_size": 8, "updates_per_step": 1}
    return Recipe(
        name="test", stage="grpo", model=str(toy_model()), data=DataConfig(train=folder), episode=episode,
        grpo=GrpoConfig.model_validate(sizes | grpo),
    )  # fmt: skip


class _Scored(Exception):
    """Carries the advantages of the first batch."""


@pytest.mark.parametrize("name", BATCHES)
def test_trl_gives_the_formulas_advantages(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge_r1.training.trl import grpo, grpo_trainer

    class Recording(grpo_trainer.CappedKlTrainer):
        def _generate_and_score_completions(self, inputs: Any) -> Any:
            raise _Scored(super()._generate_and_score_completions(inputs)["advantages"].tolist())

    monkeypatch.setattr(grpo_trainer, "CappedKlTrainer", Recording)
    write_pairs(mini_pairs(6), tmp_path / "data")
    groups, weights = BATCHES[name]
    made = recipe(tmp_path / "data", advantage="decoupled", advantage_weights=weights)
    with pytest.raises(_Scored) as scored:
        grpo.train_grpo(made, load_pairs(made.data.train), RunFolder(tmp_path / "run", made), Given(groups))
    assert scored.value.args[0] == pytest.approx(formula(groups, weights), abs=1e-5)


def test_the_parts_of_a_rounded_reward_are_exact() -> None:
    """All sets of up to six principles, as predicted and as gold."""
    for common, predicted, gold in product(range(7), range(7), range(1, 7)):
        if common > min(predicted, gold) or predicted + gold - common > 6:
            continue
        named = [*range(common), *range(10, 10 + predicted - common)]
        r2 = 2 * (f1(named, range(gold)) - 0.5)
        assert Fraction(r2 / 2 + 0.5).limit_denominator(12) == Fraction(2 * common, predicted + gold)
        for r1 in (2.0, -2.0):
            assert reward_parts(round_reward(combine(r1, r2))) == (r1, round_reward(r2))
    assert [reward_parts(r) for r in (0.8333, 0.3333, 0, 0.6667)] == [(2, 0), (-2, 1), (-2, -1), (2, -1)]


@pytest.mark.parametrize(
    ("grpo", "message"),
    [
        ({"advantage": "decoupled", "advantage_by_std": False}, "excludes advantage_by_std: false"),
        ({"advantage_weights": [1, 2]}, "weigh the parts of advantage: decoupled"),
        ({"advantage": "decoupled", "advantage_weights": [0, 0]}, "not both 0"),
        ({"advantage": "decoupled", "advantage_weights": [1, -1]}, "numbers from 0 on"),
        ({"engine": "verl", "verl": {"algorithm": {"gdpo_reward_weights": [1, 2]}}}, "set grpo.advantage"),
    ],
)
def test_what_does_not_go_together_is_refused(grpo: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GrpoConfig.model_validate(grpo)


def test_verls_keys_name_the_estimator_and_the_weights(tmp_path: Path) -> None:
    from judge_r1.training.verl.config import objective

    keys = objective(recipe(tmp_path, engine="verl", advantage="decoupled", advantage_weights=[1, 2]))
    assert keys["algorithm.adv_estimator"] == "judge_r1_gdpo"
    assert keys["+algorithm.gdpo_reward_weights"] == [1.0, 2.0]
    assert "+algorithm.gdpo_reward_weights" not in objective(recipe(tmp_path, engine="verl"))
