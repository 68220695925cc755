"""DPO through TRL on our token ids: learning, exact resume of DPO and SFT runs, adapters merged into the model."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from factories import mini_pairs
from turn_recipes import timeless, turn_recipe, weights

from data_builders.build import write_pairs
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import load_pairs
from judge_r1.files.run_log import read_rows
from judge_r1.models.hub import load_model, load_tokenizer
from judge_r1.training.data.single_turn_data import preference_rows
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import Recipe
from judge_r1.training.resources import Resources
from judge_r1.training.run_folder import RunFolder

LORA = ("lora.rank=4", "lora.alpha=8", "dpo.learning_rate=1e-2")
DPO = ("dpo.max_steps=-1", "dpo.epochs=2", "dpo.learning_rate=1e-3", "episode.prompt_tokens=4000")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dpo") / "data"
    write_pairs(mini_pairs(16), folder)
    return folder


def logprob(model: Any, prompt: list[int], answer: list[int]) -> torch.Tensor:
    logits = model(torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1]
    return torch.log_softmax(logits.float(), -1).gather(1, torch.tensor(answer)[:, None]).sum()


@dataclass(frozen=True)
class TrainedRun:
    recipe: Recipe
    folder: Path
    killed: Path
    """A copy of the run folder as a kill at step 3 would leave it."""


@pytest.fixture(scope="module")
def train(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., TrainedRun]:
    """Trains each recipe once in this module."""

    @cache
    def run(stage: str, *changes: str) -> TrainedRun:
        recipe, root, log = turn_recipe(stage, data, *changes), tmp_path_factory.mktemp("run"), RunFolder.log

        def copy_before_step_3(run: RunFolder, row: dict[str, Any]) -> None:
            if row["step"] == 3:
                shutil.copytree(run.folder, root / "killed")
            log(run, row)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RunFolder, "log", copy_before_step_3)
            run_recipe(recipe, root / "run", Resources(1))
        return TrainedRun(recipe, root / "run", root / "killed")

    return run


@pytest.mark.parametrize("changes", [(), LORA, ("dpo.form=reasoning",)])
def test_dpo_learns_the_preferences_and_logs_margins(
    changes: tuple[str, ...], data: Path, train: Callable[..., TrainedRun]
) -> None:
    """Two epochs of two batches over all pairs. The loss starts at log 2 because model and reference are equal."""
    trained = train("dpo", *DPO, *changes)
    recipe, folder = trained.recipe, trained.folder
    rows = timeless(folder)
    assert [row["step"] for row in rows] == [1, 2, 3, 4]
    assert rows[0]["loss"] == pytest.approx(0.6931, abs=1e-3)
    assert {"preference_margin", "preference_accuracy", "trl/rewards/chosen", "grad_norm"} <= rows[0].keys()
    assert rows[-1]["loss"] < rows[0]["loss"] - 0.004
    assert rows[-1]["preference_margin"] > 0
    assert not (folder / "model" / "adapter_config.json").exists()
    assert "| preference_margin | " in (folder / "model" / "README.md").read_text()

    tokenizer = load_tokenizer(recipe.model)
    examples = list(preference_rows(load_pairs(data), recipe, SafeTokenizer(tokenizer), tokenizer.eos_token_id, None))
    before, after = load_model(recipe.model), load_model(str(folder / "model"))
    with torch.no_grad():
        margins = [
            sum(
                sign * (logprob(after, row["prompt_ids"], row[key]) - logprob(before, row["prompt_ids"], row[key]))
                for key, sign in (("chosen_ids", 1), ("rejected_ids", -1))
            )
            for row in examples
        ]
    assert sum(map(float, margins)) / len(margins) * recipe.dpo.beta > 0.5 * rows[-1]["preference_margin"]


def test_the_reference_model_computes_without_a_mask_like_the_model(data: Path, tmp_path: Path) -> None:
    attention = torch.nn.functional.scaled_dot_product_attention
    with patch.object(torch.nn.functional, "scaled_dot_product_attention", side_effect=attention) as called:
        run_recipe(turn_recipe("dpo", data, *DPO, "dpo.max_steps=1"), tmp_path / "run", Resources(1))
    assert called.call_count > 0
    assert all(call.kwargs["attn_mask"] is None for call in called.call_args_list)


def test_dpo_trains_on_the_turn_of_table_7(train: Callable[..., TrainedRun]) -> None:
    """Four steps are too few to tell principles apart, so only the start and the end are checked."""
    folder = train("dpo", *DPO, "dpo.form=table7").folder
    rows = timeless(folder)
    assert [row["step"] for row in rows] == [1, 2, 3, 4]
    assert rows[0]["loss"] == pytest.approx(0.6931, abs=1e-3)
    assert (folder / "model" / "config.json").is_file()


@pytest.mark.parametrize(("stage", "changes"), [("dpo", (*DPO, *LORA)), ("sft", ("sft.packing=true",))])
def test_a_resumed_run_equals_an_uninterrupted_one(
    stage: str, changes: tuple[str, ...], train: Callable[..., TrainedRun]
) -> None:
    """The copy has the checkpoint of step 2 and no row of step 3. Resuming it trains steps 3 and 4 again. Runs without
    adapters and packing are resumed in test_resume and test_damaged_checkpoint."""
    trained = train(stage, *changes)
    assert [row["step"] for row in read_rows(trained.killed / "metrics.jsonl")] == [1, 2]
    assert not (trained.killed / "model").exists()
    run_recipe(trained.recipe, trained.killed, Resources(1))
    assert timeless(trained.killed) == timeless(trained.folder)
    assert len(read_rows(trained.folder / "metrics.jsonl")) == 5
    resumed = weights(trained.killed)
    assert all(torch.equal(parameter, resumed[name]) for name, parameter in weights(trained.folder).items())
