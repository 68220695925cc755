"""What makes training faster changes no value: labelled positions only, prompts computed once, padding cut."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch
from factories import mini_pairs
from torch.utils.flop_counter import FlopCounterMode
from toy_trainer import toy_trainer

from data_builders.build import write_pairs
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.files.pair_set import load_pairs
from judge_r1.models.base import Sampling
from judge_r1.models.cpu.training import is_right_padded
from judge_r1.training.recipe import load_recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.common import project_labelled_positions_only
from judge_r1.training.trl.grpo_trainer import (
    SharedPromptTrainer,
    by_prompt,
    packed_in_parts,
    packed_logprobs,
    without_shared_padding,
)

RESPONSE = 5


def tiny_model(*, lora: bool = False) -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM
    from trl.trainer.utils import add_fused_lm_head

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    add_fused_lm_head(model, temperature=0.7, outputs=("log_probs", "entropy"))
    if lora:
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(model, LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False))
    return model.train()


def rows() -> tuple[torch.Tensor, torch.Tensor]:
    """Three episodes of a prompt of 7 tokens and two of one of 4, with responses of different lengths, and a row of a
    third prompt."""
    random = torch.Generator().manual_seed(1)
    prompts = [torch.randint(1, 64, (length,), generator=random) for length in (7, 4, 7)]
    ids, mask = [], []
    for prompt, length in ((0, 5), (1, 3), (0, 4), (1, 5), (2, 1), (0, 2)):
        response = torch.randint(1, 64, (length,), generator=random)
        left, right = 7 - len(prompts[prompt]), RESPONSE - length
        ids.append(torch.nn.functional.pad(torch.cat((prompts[prompt], response)), (left, right)))
        mask.append(torch.nn.functional.pad(torch.ones(12 - left - right, dtype=torch.long), (left, right)))
    return torch.stack(ids), torch.stack(mask)


def gradients(model: Any, logprobs: torch.Tensor, mask: torch.Tensor) -> dict[str, torch.Tensor]:
    model.zero_grad()
    weights = torch.linspace(-1, 1, logprobs.numel()).view_as(logprobs)
    (logprobs * weights * mask[:, -RESPONSE:]).sum().backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def whole(model: Any, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """As TRL's trainer computes them."""
    labels = ids.masked_fill(mask == 0, -100)
    labels[:, :-RESPONSE] = -100
    outputs = model(input_ids=ids, attention_mask=mask, labels=labels, fused_lm_head=True)
    return outputs.log_probs[:, -RESPONSE:], outputs.entropy[:, -RESPONSE:]


@pytest.mark.parametrize("lora", [False, True])
def test_prompts_computed_once_give_the_same_values_and_gradients(lora: bool) -> None:
    model = tiny_model(lora=lora)
    ids, mask = rows()
    plain, entropy = whole(model, ids, mask)
    expected = gradients(model, plain, mask)
    found = packed_logprobs(model, ids, mask, mask[:, -RESPONSE:])
    assert found is not None
    torch.testing.assert_close(found[0], plain, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(found[1], entropy, rtol=1e-5, atol=1e-6)
    got = gradients(model, found[0], mask)
    assert got.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(got[name], gradient, rtol=1e-4, atol=1e-6, msg=name)


@pytest.mark.parametrize(("checkpoints", "dtype"), [(False, None), (True, None), (True, torch.bfloat16)])
def test_a_group_costs_its_prompt_once_also_with_checkpoints(checkpoints: bool, dtype: torch.dtype | None) -> None:
    """Operations as PyTorch counts them, forward and backward; then those of a pass without gradients."""
    model, (prompt, group) = tiny_model(), (40, 6)
    if checkpoints:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    ids = torch.randint(1, 64, (group, prompt + RESPONSE), generator=torch.Generator().manual_seed(2))
    ids[:, :prompt] = ids[0, :prompt]
    mask, counts, found = torch.ones_like(ids), dict[str, int](), dict[str, Any]()
    autocast = torch.autocast("cpu", dtype=dtype, enabled=dtype is not None)
    for name in ("whole", "packed"):
        with FlopCounterMode(display=False) as counter, autocast, ExitStack() as backward:
            values = whole(model, ids, mask) if name == "whole" else packed_logprobs(
                model, ids, mask, mask[:, -RESPONSE:], backward
            )  # fmt: skip
            assert values is not None
            found[name] = values[0].detach(), gradients(model, values[0], mask)
        counts[name] = counter.get_total_flops()
    assert model.config._attn_implementation == "sdpa"
    assert counts["whole"] / counts["packed"] > 0.85 * group * (prompt + RESPONSE) / (prompt + group * RESPONSE)
    near = {"rtol": 1e-4, "atol": 1e-6} if dtype is None else {"rtol": 0.05, "atol": 0.05}
    torch.testing.assert_close(found["packed"], found["whole"], **near)
    with torch.no_grad(), FlopCounterMode(display=False) as counter, autocast:
        parts = packed_in_parts(model, ids, mask, RESPONSE, group)
    assert parts is not None
    torch.testing.assert_close(parts[0], found["whole"][0], **near)
    assert counter.get_total_flops() < counts["packed"] / 2


@pytest.mark.parametrize("beta", [0.0, 0.04])
def test_a_training_step_with_checkpoints_has_the_gradient_of_trl(tmp_path: Path, beta: float) -> None:
    from trl import GRPOTrainer

    ids = torch.randint(10, 500, (2, 18), generator=torch.Generator().manual_seed(1))
    ids[1, :12] = ids[0, :12]
    ones, found = torch.ones_like(ids), list[Any]()
    batch = {
        "prompt_ids": ids[:, :12], "prompt_mask": ones[:, :12], "completion_ids": ids[:, 12:],
        "completion_mask": ones[:, 12:], "ref_per_token_logps": torch.full((2, 6), -6.0),
        "old_per_token_logps": None, "advantages": torch.tensor([0.5, -0.5]), "num_items_in_batch": torch.tensor(12),
    }  # fmt: skip
    for kind in (GRPOTrainer, SharedPromptTrainer):
        trainer = toy_trainer(tmp_path, kind, beta=beta, gradient_checkpointing=True)
        model = trainer.model.train()
        model.gradient_checkpointing_enable()
        trainer._prepare_inputs = lambda inputs: dict(batch)
        with FlopCounterMode(display=False) as counter:
            loss = trainer.training_step(model, batch, None)
        gradient = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
        found.append((loss, gradient, counter.get_total_flops()))
    torch.testing.assert_close(found[1][:2], found[0][:2], rtol=1e-4, atol=1e-6)
    assert found[1][2] < 0.85 * found[0][2]


def test_what_responses_say_alike_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model()
    ids, mask = (tensor[[0, 0, 0, 0, 0, 3, 4]].clone() for tensor in rows())
    ids[1, -1] = ids[3, 8] = 63  # another last token, and another second one
    ids[4, 9:] = mask[4, 9:] = 0  # ends after two tokens
    own = mask[:, -RESPONSE:].clone()
    own[0, 0] = own[1] = 0  # not scored there, but in rows that begin alike
    plain, entropy = (values * own for values in whole(model, ids, mask))
    weights = own * mask[:, -RESPONSE:]
    expected = gradients(model, plain, torch.nn.functional.pad(weights, (7, 0)))
    read: list[torch.Tensor] = []
    forward = model.forward
    monkeypatch.setattr(model, "forward", lambda **inputs: read.append(inputs["input_ids"]) or forward(**inputs))
    found = packed_logprobs(model, ids, mask, own)
    assert found is not None
    # The prompt and a response of 5; the last token of each other beginning, and what follows; two other prompts.
    assert [len(row) for row in read[0]] == [7 + 5 + (1 + 1) + (1 + 4) + 1 + (4 + 5) + (7 + 1)]
    torch.testing.assert_close(found, (plain, entropy), rtol=1e-5, atol=1e-6)
    for name, gradient in gradients(model, found[0], torch.nn.functional.pad(weights, (7, 0))).items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-6, msg=name)


@pytest.mark.parametrize("failed", [False, True])
def test_rows_that_move_no_weight_have_the_values_of_the_sampler_and_no_gradient(failed: bool) -> None:
    model, trainer = tiny_model(), object.__new__(SharedPromptTrainer)
    ids, mask = rows()
    trainer._own, trainer._moves = mask[:, -RESPONSE:].clone(), torch.tensor([True, False, False, True, True, False])
    if failed:  # an infrastructure failure has no token in the loss
        trainer._own[~trainer._moves] = 0
    plain = whole(model, ids, mask)
    trainer._sampled = -torch.rand(trainer._own.shape, generator=torch.Generator().manual_seed(0))
    found = trainer._packed(model, ids, mask)
    assert found is not None
    moved = trainer._moves[:, None]
    expected = (
        torch.where(moved, plain[0], trainer._sampled) * trainer._own,
        torch.where(moved, plain[1], -trainer._sampled) * trainer._own,
    )
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    expected = gradients(model, plain[0], mask * moved)
    for name, gradient in gradients(model, found[0], mask).items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-6, msg=name)


@pytest.mark.parametrize(
    ("beta", "sampler", "advantages", "moves"),
    [
        (0.0, True, [0.5, 0.0, -0.5, 0.0], [True, False, True, False]),
        (0.0, True, [0.0, 0.0], [False, True]),  # a loss without any gradient has no backward pass
        (0.1, True, [0.5, 0.0], [True, True]),  # KL moves every episode
        (0.0, False, [0.5, 0.0], [True, True]),  # another model's log-probabilities are not the policy's
    ],
)
def test_an_episode_of_advantage_0_moves_no_weight(
    monkeypatch: pytest.MonkeyPatch, beta: float, sampler: bool, advantages: list[float], moves: list[bool]
) -> None:
    trainer = object.__new__(SharedPromptTrainer)
    trainer.beta, trainer.old_from_sampler = beta, sampler
    monkeypatch.setattr(SharedPromptTrainer.__base__, "_compute_loss", lambda self, model, inputs: None)
    mask = torch.ones(len(advantages), 3)
    mask[0] = 0  # of an infrastructure failure
    trainer._compute_loss(
        None, {"advantages": torch.tensor(advantages), "completion_mask": mask, "sampling_per_token_logps": -mask}
    )
    assert trainer._moves.tolist() == moves


def test_padding_that_all_rows_share_is_cut_without_changing_a_value() -> None:
    model = tiny_model()
    ids, mask = (tensor[[1, 3]] for tensor in rows())  # a prompt of 4 tokens, padded to 7
    plain, entropy = whole(model, ids, mask)
    expected = gradients(model, plain, mask)
    cut_ids, cut_mask = without_shared_padding(ids, mask)
    assert cut_ids.shape == cut_mask.shape == (2, 9)
    assert is_right_padded(cut_mask)
    assert not is_right_padded(mask)
    found = whole(model, cut_ids, cut_mask)
    torch.testing.assert_close(found, (plain, entropy), rtol=1e-5, atol=1e-6)
    for name, gradient in gradients(model, found[0], cut_mask).items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-6, msg=name)
    everything = rows()
    assert all(torch.equal(a, b) for a, b in zip(without_shared_padding(*everything), everything, strict=True))


def test_only_own_tokens_are_scored_and_another_attention_is_left_alone() -> None:
    model = tiny_model()
    ids, mask = rows()
    own = mask[:, -RESPONSE:].clone()
    own[0, 1:3] = own[5] = 0
    found = packed_logprobs(model, ids, mask, own)
    assert found is not None
    for values, expected in zip(found, whole(model, ids, mask), strict=True):
        torch.testing.assert_close(values, expected * own, rtol=1e-5, atol=1e-6)
    assert model.config._attn_implementation == "sdpa"
    model.set_attn_implementation("eager")
    assert packed_logprobs(model, ids, mask, own) is None


def test_log_probabilities_at_labels_do_not_depend_on_the_positions_without(monkeypatch: pytest.MonkeyPatch) -> None:
    from trl.trainer import utils

    original = utils._use_triton
    monkeypatch.setattr(utils, "_use_triton", lambda device: False)
    model = tiny_model()
    ids, mask = rows()
    plain, entropy = whole(model, ids, mask)
    expected = gradients(model, plain, mask)
    project_labelled_positions_only()
    assert utils._use_triton(torch.device("cpu"))
    assert not utils._use_triton(torch.device("meta"))
    labelled, other_entropy = whole(model, ids, mask)
    torch.testing.assert_close(labelled, plain)
    torch.testing.assert_close(other_entropy, entropy)
    got = gradients(model, labelled, mask)
    for name, gradient in expected.items():
        torch.testing.assert_close(got[name], gradient, rtol=1e-4, atol=1e-6, msg=name)
    monkeypatch.setattr(utils, "_use_triton", original)


def test_micro_batches_are_sorted_by_prompt_within_an_update() -> None:
    prompts = torch.tensor([[1, 1], [2, 2], [1, 1], [2, 2], [3, 3], [1, 1], [3, 3], [1, 1]])
    rewards = torch.arange(8.0)
    names = list("abcdefgh")
    batches = [
        {"prompt_ids": prompts[i : i + 2], "advantages": rewards[i : i + 2], "names": names[i : i + 2],
         "num_items_in_batch": torch.tensor(9), "nothing": None}
        for i in range(0, 8, 2)
    ]  # fmt: skip
    found = by_prompt(batches, 2)
    assert [batch["prompt_ids"][:, 0].tolist() for batch in found] == [[1, 1], [2, 2], [1, 1], [3, 3]]
    assert [batch["names"] for batch in found] == [["a", "c"], ["b", "d"], ["f", "h"], ["e", "g"]]
    assert [batch["advantages"].tolist() for batch in found] == [[0.0, 2.0], [1.0, 3.0], [5.0, 7.0], [4.0, 6.0]]
    assert all(batch["num_items_in_batch"] == 9 and batch["nothing"] is None for batch in found)


class RecordedEpisodes:
    def run(self, pairs: Sequence[ReasoningPair], sampling: Sampling) -> list[Trajectory]:
        return [
            Trajectory(
                prompt_ids=(9, 8, 7), token_ids=(4, 5), loss_mask=(1, 1), logprobs=(-1.0, -2.0), turns=(),
                judgment=None, ended="answer", reward={"r": float(i % 2), "R1": 0.0, "R2": 0.0, "f1": 0.0},
            )
            for i in range(len(pairs))
        ]  # fmt: skip


@pytest.mark.parametrize(("updates", "recorded"), [(1, False), (2, False), (2, True)])
def test_the_sampler_gives_the_old_log_probabilities(
    updates: int, recorded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal to those of TRL's own pass over the episodes. Recorded episodes may come from another model."""
    from judge_r1.training.trl import grpo, grpo_trainer

    write_pairs(mini_pairs(6), tmp_path / "pairs")
    recipe = load_recipe(
        Path("mini", "grpo"),
        ["start=null", "model=bundled:tiny", f"data.train={tmp_path / 'pairs'}", "grpo.steps=2",
         "grpo.pairs_per_step=4", "grpo.group_size=3", "grpo.micro_batch_size=3", f"grpo.updates_per_step={updates}",
         "grpo.temperature=0.7", "episode.budget.response_tokens=12"],
    )  # fmt: skip
    outputs: list[dict[str, Any]] = []
    passes: list[bool] = []

    class Recording(grpo_trainer.CappedKlTrainer):
        def _generate_and_score_completions(self, inputs: Any) -> Any:
            passes.clear()
            output = super()._generate_and_score_completions(inputs)
            # One for the KL term, and TRL's own for the old ones of several updates.
            assert passes.count(True) == 1 + (updates > 1 and recorded)
            ids = torch.cat((output["prompt_ids"], output["completion_ids"]), 1)
            mask = torch.cat((output["prompt_mask"], output["completion_mask"]), 1)
            with torch.no_grad():
                again = self._get_per_token_logps_and_entropies(
                    self.model, ids, mask, output["completion_ids"].shape[1]
                )
            reference = output["ref_per_token_logps"]
            assert outputs or torch.allclose(reference, again[0], atol=1e-5)
            if outputs and recorded:  # an untrained model gets hardly any reward that would move it
                assert not torch.allclose(reference, again[0], atol=1e-5)
            own = output["completion_mask"] * output["tool_mask"]
            outputs.append({"old": output.get("old_per_token_logps"), "again": again[0], "own": own, **output})
            return output

        def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
            found = super()._get_per_token_logps_and_entropies(*args, **kwargs)
            passes.append(found[0] is not None)
            return found

    monkeypatch.setattr(grpo_trainer, "CappedKlTrainer", Recording)
    source = RecordedEpisodes() if recorded else None
    grpo.train_grpo(recipe, load_pairs(recipe.data.train), RunFolder(tmp_path / "run", recipe), source)
    assert len(outputs) == 2
    for output in outputs:
        if updates == 1:
            assert output["old"] is None
            continue
        assert torch.equal(output["old"], output["sampling_per_token_logps"]) != recorded
        torch.testing.assert_close(output["old"] * output["own"], output["again"] * output["own"], rtol=0, atol=1e-5)
