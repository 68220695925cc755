"""Observations are masked: TRL's GRPO loss has no gradient from targets at observation positions.

The inputs of the model stay fixed. The tests change the targets of the loss: the ids to predict, the old and the
reference log-probabilities, the advantages. verl/test_verl_gradient.py tests verl.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from toy_trainer import toy_trainer

PROMPT, RESPONSE = 6, 12
OBSERVED = ((4, 5, 6, 7), (2, 3, 4))
"""Positions of each response that the environment wrote."""
CHANGES = ("completion_ids", "old_per_token_logps", "ref_per_token_logps", "advantages")
POSITIONS = [(row, at) for row, positions in enumerate(OBSERVED) for at in positions]


class FixedInputs(torch.nn.Module):
    """A model that always reads `ids`, so the ids it is given are only targets."""

    def __init__(self, model: Any, ids: torch.Tensor) -> None:
        super().__init__()
        self.model, self.ids = model, ids

    def forward(self, input_ids: torch.Tensor, **kwargs: Any) -> Any:
        assert input_ids.shape == self.ids.shape
        return self.model(input_ids=self.ids, **kwargs)


class Step:
    """One forward and backward pass of TRL's trainer on two fixed episodes."""

    def __init__(self, folder: Path) -> None:
        self.trainer = toy_trainer(folder, beta=0.04)
        self.model = self.trainer.model

    def gradient(self, change: str | None = None, position: tuple[int, int] = (0, 0)) -> torch.Tensor:
        """The gradient with `change` applied at one (row, position of the response)."""
        random = torch.Generator().manual_seed(1)
        ids = torch.randint(10, 500, (2, PROMPT + RESPONSE), generator=random)
        mask = torch.ones(2, RESPONSE, dtype=torch.long)
        for row, positions in enumerate(OBSERVED):
            mask[row, list(positions)] = 0
        inputs = {
            "prompt_ids": ids[:, :PROMPT],
            "prompt_mask": torch.ones(2, PROMPT, dtype=torch.long),
            "completion_ids": ids[:, PROMPT:].clone(),
            "completion_mask": torch.ones(2, RESPONSE, dtype=torch.long),
            "tool_mask": mask,
            "old_per_token_logps": -6 + 0.05 * torch.randn(2, RESPONSE, generator=random),
            "ref_per_token_logps": -6 + 0.5 * torch.randn(2, RESPONSE, generator=random),
            "advantages": torch.tensor([[0.5], [1.5]]).repeat(1, RESPONSE),  # positive: clipping hides nothing
            "num_items_in_batch": mask.sum(),
        }
        if change:
            inputs[change][position] += 7 if change == "completion_ids" else 3.0
        self.model.zero_grad()
        self.trainer._compute_loss(FixedInputs(self.model, ids), inputs).backward()
        return torch.cat([p.grad.flatten() for p in self.model.parameters() if p.grad is not None])


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> Step:
    return Step(tmp_path_factory.mktemp("trl"))


@pytest.mark.parametrize("change", CHANGES)
def test_observations_have_no_gradient(step: Step, change: str) -> None:
    plain = step.gradient()
    assert plain.abs().max() > 1e-4
    for position in POSITIONS:
        assert torch.equal(step.gradient(change, position), plain), f"{change} at {position}"


@pytest.mark.parametrize("change", CHANGES)
def test_sampled_tokens_have_a_gradient(step: Step, change: str) -> None:
    """Control: the same change at sampled positions on either side of an observation."""
    plain = step.gradient()
    for position in ((0, 3), (0, 8), (1, 5)):
        assert not torch.allclose(step.gradient(change, position), plain, atol=1e-6), f"{change} at {position}"


def test_a_failed_episode_has_no_gradient() -> None:
    """`as_columns` gives a failed episode an empty mask and no reward."""
    from judge_r1.core.records import Trajectory
    from judge_r1.training.trl.grpo import as_columns

    failed = Trajectory(
        prompt_ids=(1,), token_ids=(2, 3), loss_mask=(1, 0), logprobs=(-1.0, 0.0), turns=(), judgment=None,
        ended="infrastructure_search_timeout", reward={"r": 0.0, "R1": 0.0, "R2": 0.0},
    )  # fmt: skip
    columns = as_columns([failed, failed.model_copy(update={"ended": "answer"})])
    assert columns["env_mask"] == [[0, 0], [1, 0]]
    assert columns["r"] == [None, 0.0]
