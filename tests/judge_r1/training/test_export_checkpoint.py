"""`merge`: the exported model has the trained weights, or the export fails."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, GenerationConfig
from turn_recipes import Runs
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.models.hub import load_tokenizer
from judge_r1.training import export_checkpoint
from judge_r1.training.export_checkpoint import WeightMismatch, merge, verify_weights


@pytest.fixture(scope="module")
def run(trained: Runs) -> Path:
    """A finished SFT run of four steps, with checkpoints at 2 and 4."""
    return trained("sft")[1]


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(AutoModelForCausalLM.from_pretrained(folder).state_dict())


def test_the_newest_checkpoint_exports_to_the_final_model(run: Path, tmp_path: Path) -> None:
    merged = merge(run, out=tmp_path / "model")
    assert merged.step == 4
    assert merged.difference <= 1e-6
    final = weights(run / "model")
    assert all(torch.equal(tensor, final[name]) for name, tensor in weights(tmp_path / "model").items())
    assert any(
        not torch.equal(t, final[n]) for n, t in weights(merge(run, step=2, out=tmp_path / "two").folder).items()
    )


def test_a_model_folder_is_complete(run: Path) -> None:
    assert GenerationConfig.from_pretrained(run / "model").eos_token_id is not None
    assert load_tokenizer(str(run / "model")).chat_template
    card = (run / "model" / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: transformers\n")
    assert "# mini/json" in card
    assert "sft from `" in card
    assert "| loss | " in card
    assert (run / "recipe.yaml").read_text() in card


def test_the_command_reports_the_difference_and_refuses_to_overwrite(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "model")
    result = CliRunner().invoke(app, ["merge", str(tmp_path / "run"), "--step", "2"])
    assert result.exit_code == 0, result.output
    assert "its log-probabilities differ by" in result.output
    assert (tmp_path / "run" / "model-step-2" / "model.safetensors").exists()
    assert not (tmp_path / "run" / "model").exists()
    with pytest.raises(JudgeError, match=r"model-step-2 exists: remove it"):
        merge(tmp_path / "run", step=2)


@pytest.mark.parametrize("change", ["changed", "renamed", "nan"])
def test_different_weights_fail_the_verification(run: Path, tmp_path: Path, change: str) -> None:
    shutil.copytree(run / "model", tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    tensors, trained = load_file(file), load_file(file)
    name = next(n for n in sorted(tensors) if "mlp" in n)
    if change == "renamed":
        trained["other"] = trained.pop(name)
    else:
        tensors[name] = tensors[name] + (0.05 if change == "changed" else float("nan"))
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(WeightMismatch):
        verify_weights(tmp_path / "model", trained)


def test_rounding_to_the_stored_precision_is_no_difference(run: Path, tmp_path: Path) -> None:
    AutoModelForCausalLM.from_pretrained(run / "model").bfloat16().save_pretrained(tmp_path / "model")
    load_tokenizer(str(run / "model")).save_pretrained(tmp_path / "model")
    assert verify_weights(tmp_path / "model", load_file(run / "model" / "model.safetensors")) <= 1e-6


def test_a_failed_verification_leaves_no_folder(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights that were read independently differ from those that were written."""
    convert = export_checkpoint._convert

    def altered(*args: Any) -> dict[str, torch.Tensor]:
        weights: dict[str, torch.Tensor] = convert(*args)
        name = next(n for n in sorted(weights) if "mlp" in n)
        return weights | {name: weights[name] + 0.05}

    monkeypatch.setattr(export_checkpoint, "_convert", altered)
    with pytest.raises(WeightMismatch):
        merge(run, out=tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
