"""DPO through TRL on our ids: its loss by the formula, exact resume, adapters merged into the model."""

from pathlib import Path
from typing import Any

import pytest
import torch
from factories import mini_pairs
from turn_recipes import timeless, turn_recipe, weights

from data_builders.build import write_pairs
from judge_r1.core.pair_set import load_pairs
from judge_r1.core.run_log import read_rows
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import load_model, load_tokenizer
from judge_r1.training.data.single_turn_data import preference_rows
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.resources import Resources
from judge_r1.training.run_folder import RunFolder

LORA = ("lora.rank=4", "lora.alpha=8")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dpo") / "data"
    write_pairs(mini_pairs(16), folder)
    return folder


def logprob(model: Any, prompt: list[int], answer: list[int]) -> torch.Tensor:
    logits = model(torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1]
    return torch.log_softmax(logits.float(), -1).gather(1, torch.tensor(answer)[:, None]).sum()


@pytest.mark.parametrize("changes", [(), LORA, ("dpo.form=reasoning",)])
def test_a_run_learns_its_preferences_and_logs_margins(changes: tuple[str, ...], data: Path, tmp_path: Path) -> None:
    """Two epochs of two batches that hold all pairs: the loss starts at log 2, where model and reference are one."""
    more = ("dpo.max_steps=-1", "dpo.epochs=2", "dpo.learning_rate=1e-3", "episode.prompt_tokens=4000")
    recipe = turn_recipe("dpo", data, *more, *changes)
    run_recipe(recipe, tmp_path / "run", Resources(1))
    rows = timeless(tmp_path / "run")
    assert [row["step"] for row in rows] == [1, 2, 3, 4]
    assert rows[0]["loss"] == pytest.approx(0.6931, abs=1e-3)
    assert {"preference_margin", "preference_accuracy", "trl/rewards/chosen", "grad_norm"} <= rows[0].keys()
    assert rows[-1]["loss"] < rows[0]["loss"] - 0.01
    assert rows[-1]["preference_margin"] > 0
    assert not (tmp_path / "run" / "model" / "adapter_config.json").exists()
    assert "| preference_margin | " in (tmp_path / "run" / "model" / "README.md").read_text()

    tokenizer = load_tokenizer(recipe.model)
    made = list(preference_rows(load_pairs(data), recipe, SafeTokenizer(tokenizer), tokenizer.eos_token_id, None))
    before, after = load_model(recipe.model), load_model(str(tmp_path / "run" / "model"))
    with torch.no_grad():
        margins = [
            sum(
                sign * (logprob(after, row["prompt_ids"], row[key]) - logprob(before, row["prompt_ids"], row[key]))
                for key, sign in (("chosen_ids", 1), ("rejected_ids", -1))
            )
            for row in made
        ]
    assert sum(map(float, margins)) / len(margins) * recipe.dpo.beta > 0.5 * rows[-1]["preference_margin"]


class Killed(Exception):
    pass


@pytest.mark.parametrize(
    ("stage", "changes"), [("dpo", ()), ("dpo", LORA), ("sft", LORA), ("sft", ("sft.packing=true",))]
)
def test_a_run_that_was_killed_goes_on_as_if_it_had_not_been(
    stage: str, changes: tuple[str, ...], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, log = turn_recipe(stage, data, *changes), RunFolder.log
    run_recipe(recipe, tmp_path / "whole", Resources(1))

    def kill(run: RunFolder, row: dict[str, Any]) -> None:
        if row["step"] == 3:
            raise Killed
        log(run, row)

    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "log", kill)
        with pytest.raises(Killed):
            run_recipe(recipe, tmp_path / "killed", Resources(1))
    run_recipe(recipe, tmp_path / "killed", Resources(1))
    assert timeless(tmp_path / "killed") == timeless(tmp_path / "whole")
    assert len(read_rows(tmp_path / "whole" / "metrics.jsonl")) == 5
    trained = weights(tmp_path / "killed")
    assert all(torch.equal(parameter, trained[name]) for name, parameter in weights(tmp_path / "whole").items())
