"""What the last layer leaves out changes no log-probability of a label and no gradient."""

from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM
from trl.trainer.utils import add_fused_lm_head

from judge_r1.models.base import IGNORED
from judge_r1.models.cpu.training import skip_unlabelled_tokens
from judge_r1.models.hub import load_model

IDS = torch.arange(3, 21).view(2, 9)
LABELS = IDS.masked_fill(torch.tensor([[1, 1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 0, 1, 1]]) == 1, IGNORED)


def model_of(kind: str, **options: Any) -> Any:
    torch.manual_seed(0)
    sizes = {"vocab_size": 30, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "pad_token_id": 0}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8} if kind != "gpt2" else {"n_head": 2}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **sizes, **heads, **options))
    add_fused_lm_head(model, outputs=("log_probs", "entropy"))
    return model.eval()  # without dropout


def scores_and_gradients(model: Any) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
    model.zero_grad()
    out = model(input_ids=IDS, labels=LABELS, fused_lm_head=True)
    out.log_probs.sum().backward()
    found = {name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None}
    return out.log_probs.detach(), out.entropy.detach(), found


def assert_equal(ours: Any, theirs: Any) -> None:
    for one, other in zip(scores_and_gradients(ours), scores_and_gradients(theirs), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


def projected(model: Any) -> list[int]:
    """The number of tokens that the down-projection of each layer reads in a call with labels."""
    counts: list[int] = []
    for name, module in model.named_modules():
        if name.endswith("down_proj"):
            module.register_forward_hook(lambda _, inputs, out: counts.append(out.flatten(0, -2).shape[0]))
    model(input_ids=IDS, labels=LABELS, fused_lm_head=True)
    return counts


ALL, LABELLED = IDS.numel(), int((LABELS != IGNORED).sum())


@pytest.mark.parametrize("kind", ["llama", "qwen3", "gemma2"])
def test_scores_and_gradients_are_those_of_transformers(kind: str) -> None:
    model, plain = model_of(kind), model_of(kind)
    skip_unlabelled_tokens(model)
    assert_equal(model, plain)
    assert projected(model) == [ALL, LABELLED]


def test_a_call_without_labels_reads_every_token() -> None:
    model, plain = model_of("qwen3"), model_of("qwen3")
    skip_unlabelled_tokens(model)
    model(input_ids=IDS, labels=LABELS, fused_lm_head=True)
    assert torch.equal(model(IDS).logits, plain(IDS).logits)
    assert torch.equal(model(IDS, labels=LABELS).logits, plain(IDS).logits)


EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("qwen3_moe", {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8}),
        ("mixtral", EXPERTS),
        ("gpt_oss", EXPERTS),
        ("gpt2", {}),
    ],
)
def test_experts_and_unknown_layers_are_left_alone(kind: str, options: dict[str, Any]) -> None:
    model = model_of(kind, **options)
    skip_unlabelled_tokens(model)
    assert not [name for name, module in model.named_modules() if name and "forward" in vars(module)]
    model(input_ids=IDS, labels=LABELS, fused_lm_head=True).log_probs.sum().backward()


def test_a_model_that_is_loaded_for_training_leaves_them_out() -> None:
    model = load_model("bundled:tiny", training=True)
    assert "forward" in vars(model.get_decoder().layers[-1].mlp)
    assert "forward" not in vars(load_model("bundled:tiny").get_decoder().layers[-1].mlp)
