"""Adapters: the merge into the weights, and the English judge that ships as adapters."""

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest
import real_tokenizers
import torch
from paths import REPO
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


@pytest.mark.slow
def test_the_english_judge_reads_the_case_of_the_pages_example() -> None:
    real_tokenizers.smollm2()  # skips without the weights
    page = files("judge_r1.serving.ui") / "static" / "examples.json"
    example = next(found for found in json.loads(page.read_text(encoding="utf-8")) if "English judge" in found["title"])
    texts = {name: example[name] for name in ("context", "decision", "reasoning_a", "reasoning_b", "domain")}
    found = load_judge("agentic@bundled:judge-en")(**texts)
    assert (found.winner, found.violated_principles) == (example["better"], (2,))
    assert any("within 24 hours" in passage.text for passage in found.evidence)


@pytest.mark.slow
def test_the_example_of_the_readme_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    real_tokenizers.smollm2()
    section = (REPO / "README.md").read_text(encoding="utf-8").split("## Python\n", 1)[1]
    code, _, rest = section.partition("```python\n")[2].partition("# ")
    exec(code, {})
    assert capsys.readouterr().out == rest.partition("\n")[0] + "\n"


def test_the_packed_recipe_names_no_folder_of_the_machine_that_trained_it() -> None:
    recipe = (files("judge_r1.models") / "judge_en" / "recipe.yaml").read_text(encoding="utf-8")
    assert "train: runs/english/data/train" in recipe
    assert not re.search(r": /", recipe)


def test_the_judge_has_a_model_card() -> None:
    card = (files("judge_r1.models") / "judge_en" / "README.md").read_text(encoding="utf-8")
    assert all(word in card for word in ("SmolLM2-135M-Instruct", "Apache-2.0", "runs/english", "P4"))
