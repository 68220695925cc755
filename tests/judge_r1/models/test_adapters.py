"""The merge of adapters into the weights of a model."""

import torch
from peft import LoraConfig, get_peft_model

from judge_r1.models.adapters import merge_adapters
from judge_r1.models.hub import load_model


def test_merged_weights_are_those_of_peft() -> None:
    torch.manual_seed(0)
    config = LoraConfig(r=2, lora_alpha=6, target_modules="all-linear", task_type="CAUSAL_LM", init_lora_weights=False)
    adapted = get_peft_model(load_model("bundled:tiny"), config)
    found, expected = merge_adapters(adapted.state_dict(), 6, 2), adapted.merge_and_unload().state_dict()
    assert found.keys() == expected.keys()
    assert all(torch.allclose(found[name], expected[name], atol=1e-6) for name in found)
