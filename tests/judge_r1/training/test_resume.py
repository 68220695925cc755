"""A run that was stopped and taken up again is the run that never stopped: same order, same numbers, same weights."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from paths import RECIPES

from data_builders.build import write_pairs
from data_builders.rationales.recipe_traces import recipe_traces
from judge_r1.core.errors import JudgeError
from judge_r1.core.run_log import read_rows
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.run_folder import RunFolder

RECIPES = RECIPES / "mini"
SFT = ["sft.traces=12", "sft.epochs=2", "sft.batch_size=4", "sft.micro_batch_size=4", "save_every=2"]
GRPO = [
    "model=bundled:tiny", "grpo.steps=4", "grpo.pairs_per_step=2", "grpo.group_size=2", "grpo.micro_batch_size=2",
    "grpo.updates_per_step=2", "episode.budget.response_tokens=8", "save_every=1",
]  # fmt: skip


class Killed(Exception):
    pass


def recipe(stage: str, data: Path) -> Recipe:
    name, changes = ("warmup", SFT) if stage == "sft" else ("grpo", GRPO)
    return load_recipe(RECIPES / f"{name}.yaml", [*changes, f"data.train={data}"])


def timeless(folder: Path) -> list[dict[str, Any]]:
    """The rows of a run without what a clock says, and without TRL's own count of tokens, which starts anew."""
    clocks = re.compile("time|per_second|num_tokens")
    rows = read_rows(folder / "metrics.jsonl")
    return [{key: value for key, value in row.items() if not clocks.search(key)} for row in rows]


@pytest.mark.parametrize(("stage", "killed_at"), [("sft", 5), ("grpo", 3)])
def test_a_run_that_was_killed_goes_on_as_if_it_had_not_been(
    stage: str, killed_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both runs pass the end of an epoch; the kill falls behind a checkpoint and before the next one."""
    import torch
    from transformers import AutoModelForCausalLM

    write_pairs(mini_pairs(12 if stage == "sft" else 3), tmp_path / "data")
    resolved, log = recipe(stage, tmp_path / "data"), RunFolder.log
    run_recipe(resolved, tmp_path / "whole", rationales=recipe_traces)

    def kill(run: RunFolder, row: dict[str, Any]) -> None:
        if row["step"] == killed_at:
            raise Killed
        log(run, row)

    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "log", kill)
        with pytest.raises(Killed):
            run_recipe(resolved, tmp_path / "killed", rationales=recipe_traces)
    run_recipe(resolved, tmp_path / "killed", rationales=recipe_traces)
    whole, killed = (timeless(tmp_path / name) for name in ("whole", "killed"))
    assert [row["step"] for row in killed] == [row["step"] for row in whole]
    for one, other in zip(killed[:-1], whole[:-1], strict=True):  # the last is the trainer's sum over what it ran
        assert one == pytest.approx(other, nan_ok=True)
    assert read_rows(tmp_path / "whole" / "traces.jsonl") == read_rows(tmp_path / "killed" / "traces.jsonl")
    models = [AutoModelForCausalLM.from_pretrained(tmp_path / name / "model") for name in ("whole", "killed")]
    for one, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(("stage", "changes"), [("sft", ("sft.max_steps=2",)), ("grpo", ("grpo.steps=1",))])
def test_a_run_that_only_lacks_its_model_is_not_trained_any_further(
    stage: str, changes: tuple[str, ...], tmp_path: Path
) -> None:
    """As after a kill behind the last checkpoint; `max_steps` ends in the middle of an epoch."""
    write_pairs(mini_pairs(12 if stage == "sft" else 3), tmp_path / "data")
    name, fixed = ("warmup", SFT) if stage == "sft" else ("grpo", GRPO)
    resolved = load_recipe(RECIPES / f"{name}.yaml", [*fixed, *changes, f"data.train={tmp_path / 'data'}"])
    run, saved = tmp_path / "run", "model/model.safetensors"
    run_recipe(resolved, run, rationales=recipe_traces)
    steps, weights = {row["step"] for row in timeless(run)}, (run / saved).read_bytes()
    shutil.rmtree(run / "model")
    run_recipe(resolved, run, rationales=recipe_traces)
    assert {row["step"] for row in timeless(run)} == steps
    assert (run / saved).read_bytes() == weights


def test_pairs_that_do_not_fill_a_step_are_refused(tmp_path: Path) -> None:
    write_pairs(mini_pairs(3), tmp_path / "data")
    few = recipe("grpo", tmp_path / "data")
    grpo = few.grpo.model_copy(update={"pairs_per_step": 1000, "micro_batch_size": 1000})
    with pytest.raises(JudgeError, match=r"pairs do not fill one step of grpo\.pairs_per_step 1000"):
        run_recipe(few.model_copy(update={"grpo": grpo}), tmp_path / "run")
    assert not (tmp_path / "run" / "model").exists()
