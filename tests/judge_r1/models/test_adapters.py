"""Adapters: the merge into the weights, and the English judge that ships as adapters."""

from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model

from judge_r1 import load_judge
from judge_r1.models.adapters import write_merged
from judge_r1.models.hub import load_model, resolve


def test_the_written_model_has_the_weights_that_peft_merges(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = LoraConfig(r=2, lora_alpha=6, target_modules="all-linear", task_type="CAUSAL_LM", init_lora_weights=False)
    adapted = get_peft_model(load_model("bundled:tiny"), config)
    adapted.save_pretrained(tmp_path / "adapters")
    write_merged(Path(resolve("bundled:tiny")), tmp_path / "adapters", tmp_path / "merged")
    found, expected = load_model(str(tmp_path / "merged")).state_dict(), adapted.merge_and_unload().state_dict()
    assert found.keys() == expected.keys()
    assert all(torch.allclose(found[name], expected[name], atol=1e-6) for name in found)


CASE = (
    "Paracetamol 500 mg was given 3 times within 72 hours for a sore back. The patient walked 40 metres on day 2. "
    "A cup of tea was served at 4 in the afternoon."
)
FIRST = """1. The back was treated first. Paracetamol 500 mg was given 3 times within 72 hours for a sore back.
2. He can go home."""


@pytest.mark.slow
def test_the_english_judge_searches_and_answers() -> None:
    judge = load_judge("agentic@bundled:judge-en")
    found = judge(
        context=CASE,
        decision="discharge",
        reasoning_a=FIRST,
        reasoning_b=FIRST.replace("72", "64"),
        domain="medical",
    )
    assert found.preferred in ("A", "B")
