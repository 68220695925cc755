"""Observations are masked: verl's loss has no gradient from targets at observation positions.

The inputs of the model stay fixed. The tests change the targets that verl's engine and loss functions use: the ids to
predict, the old and the reference log-probabilities, the advantages.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from verl_factories import compose, keys_of

from judge_r1.training.recipe import Recipe

pytest.importorskip("verl", reason="verl is not installed: pip install 'judge-r1[verl]'")

PROMPTS, RESPONSES = (5, 8), (12, 9)
OBSERVED = ((4, 5, 6, 7), (2, 3, 4))
"""Positions of each response that the environment wrote."""
CHANGES = ("targets", "old_log_probs", "ref_log_prob", "advantages")
POSITIONS = [(row, at) for row, positions in enumerate(OBSERVED) for at in positions]
SAMPLED = (0, 3)  # the token before the first observation


def ragged(rows: list[torch.Tensor]) -> torch.Tensor:
    return torch.nested.as_nested_tensor(rows, layout=torch.jagged)


class Step:
    """One forward and backward pass of verl's actor on two fixed episodes."""

    def __init__(self, recipe: Recipe, model_folder: Path) -> None:
        from transformers import AutoModelForCausalLM
        from verl.utils.config import omega_conf_to_dataclass

        from judge_r1.training.verl.cpu.engine import CpuEngine

        self.model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32, attn_implementation="sdpa")
        self.actor = omega_conf_to_dataclass(compose(keys_of(recipe)).actor_rollout_ref.actor)
        self.engine = object.__new__(CpuEngine)  # uses only methods that need no process group
        self.engine.module, self.engine.engine_config = self.model, self.actor.fsdp_config
        self.engine.use_ulysses_sp = self.engine.pad_to_length = False

    def gradient(self, change: str | None, position: tuple[int, int] | None) -> torch.Tensor:
        """The gradient with `change` applied at one (row, position of the response)."""
        from tensordict import TensorDict
        from verl.utils import tensordict_utils as tu
        from verl.workers.utils.losses import ppo_loss

        random = torch.Generator().manual_seed(0)

        def noise(length: int) -> torch.Tensor:
            return torch.randn(length, generator=random)

        ids = [torch.randint(10, 500, (p + r,), generator=random) for p, r in zip(PROMPTS, RESPONSES, strict=True)]
        masks = [torch.ones(r, dtype=torch.long) for r in RESPONSES]
        for mask, seen in zip(masks, OBSERVED, strict=True):
            mask[list(seen)] = 0
        fields = {
            "old_log_probs": [-6 + 0.05 * noise(r) for r in RESPONSES],
            "ref_log_prob": [-6 + 0.5 * noise(r) for r in RESPONSES],
            "advantages": [(0.5 + row) * mask for row, mask in enumerate(masks)],  # positive: clipping hides nothing
        }
        if change in fields and position is not None:
            row, index = position
            fields[change][row][index] += 3.0
        data = TensorDict(
            {
                "input_ids": ragged(ids),
                "position_ids": ragged([torch.arange(len(row)) for row in ids]),
                "prompts": ragged([row[:p] for row, p in zip(ids, PROMPTS, strict=True)]),
                "responses": ragged([row[p:] for row, p in zip(ids, PROMPTS, strict=True)]),
                "response_mask": ragged(masks),
                "loss_mask": ragged(masks),
                **{name: ragged(rows) for name, rows in fields.items()},
            },
            batch_size=2,
        )
        tokens = int(sum(mask.sum() for mask in masks))
        tu.assign_non_tensor(
            data, dp_size=1, batch_num_tokens=tokens, global_batch_size=2, temperature=1.0, use_remove_padding=False
        )
        inputs, arguments = self.engine.prepare_model_inputs(data)
        if change == "targets" and position is not None:
            row, index = position
            # the id of response position `index` is the target of the position before it
            arguments["input_ids_rmpad_rolled"][sum(map(len, ids[:row])) + PROMPTS[row] + index - 1] += 7
        self.model.zero_grad()
        output = self.engine.prepare_model_outputs(self.model(**inputs), arguments, data, None)
        loss, _metrics = ppo_loss(self.actor, output, data)
        loss.backward()
        return torch.cat([p.grad.flatten() for p in self.model.parameters() if p.grad is not None])


@pytest.fixture(scope="module")
def step(recipe: Recipe, model_folder: Path) -> Any:
    return Step(recipe, model_folder)


@pytest.mark.parametrize("change", CHANGES)
def test_observations_have_no_gradient(step: Step, change: str) -> None:
    plain = step.gradient(None, None)
    assert plain.abs().max() > 1e-4
    for position in POSITIONS:
        assert torch.equal(step.gradient(change, position), plain), f"{change} at {position}"


@pytest.mark.parametrize("change", CHANGES)
def test_sampled_tokens_have_a_gradient(step: Step, change: str) -> None:
    """Control: the same change at sampled positions on either side of an observation."""
    plain = step.gradient(None, None)
    for position in (SAMPLED, (0, 8), (1, 5)):
        assert not torch.allclose(step.gradient(change, position), plain, atol=1e-6), f"{change} at {position}"
