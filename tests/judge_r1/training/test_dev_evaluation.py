"""Evaluation on dev pairs during training on TRL: its rows, the best checkpoint."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from factories import make_case, make_pair
from turn_recipes import Runs, evaluated_recipe, evaluations

from data_builders.build import write_pairs
from data_builders.rationales.rules import recipe_rationales
from judge_r1.core.errors import JudgeError
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.files.run_log import read_rows
from judge_r1.files.yaml_config import ConfigError
from judge_r1.training.best_checkpoint import Best, best_of, export_best, keep_if_best
from judge_r1.training.checkpoints import Checkpoint, NoCheckpoint, checkpoints, kept_best
from judge_r1.training.data.training_pairs import dev_pairs
from judge_r1.training.export_checkpoint import merge
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder

METRICS = {
    "sft": {"dev/loss", "dev/token_accuracy"},
    "dpo": {"dev/loss", "dev/preference_accuracy", "dev/preference_margin"},
    "grpo": {"dev/episodes", "dev/accuracy", "dev/reward/r", "dev/reward/F1", "dev/reward/valid"},
}


@pytest.mark.parametrize("stage", ["sft", "dpo", "grpo"])
def test_every_evaluation_is_in_the_row_of_its_step(stage: str, evaluated: Runs) -> None:
    _, folder = evaluated(stage)
    found = evaluations(folder)
    assert list(found) == ([2, 4, 6] if stage == "sft" else [2, 4])
    assert all(metrics.keys() >= METRICS[stage] for metrics in found.values())
    rows = read_rows(folder / "metrics.jsonl")
    assert all(row["time/dev"] > 0 and row["progress"] > 0 for row in rows if row["step"] in found and "loss" in row)
    if stage == "grpo":
        assert {metrics["dev/episodes"] for metrics in found.values()} == {3}


@pytest.mark.parametrize("stage", ["sft", "dpo", "grpo"])
def test_the_best_checkpoint_is_kept_and_exported(stage: str, evaluated: Runs) -> None:
    """It has the weights of its step, whether or not that checkpoint is still there."""
    from safetensors.torch import load_file

    resolved, folder = evaluated(stage)
    best = best_of(resolved, read_rows(folder / "metrics.jsonl"))
    assert best is not None
    assert json.loads((folder / "best.json").read_text()) == {
        "metric": best.metric, "value": best.value, "step": best.step,
    }  # fmt: skip
    assert len(list((folder / "checkpoints").glob("checkpoint-*"))) == 2
    (kept,) = kept_best(folder / "checkpoints")
    assert kept.step == best.step
    assert not any(path.name.startswith(("optimizer", "rng")) for path in kept.folder.iterdir())
    assert (folder / "best" / "README.md").exists()
    weights, last = (load_file(folder / name / "model.safetensors") for name in ("best", "model"))
    stored = load_file(kept.folder / "model.safetensors")
    assert all((weights[name] == stored[name]).all() for name in weights)
    if stage != "grpo":  # the untrained model has no reward there, so its weights stay
        assert all((weights[name] == last[name]).all() for name in weights) == (best.step == max(evaluations(folder)))
    if best.step not in {c.step for c in checkpoints(folder / "checkpoints", 2 if stage == "grpo" else 1)}:
        assert merge(folder, step=best.step, out=folder / "again").step == best.step


def test_evaluating_does_not_change_training(split_data: Path, evaluated: Runs, tmp_path: Path) -> None:
    for stage in ("sft", "grpo"):
        plain = evaluated_recipe(stage, split_data, "data.dev=null", "eval_every=null", "eval_pairs=null")
        run_recipe(plain, tmp_path / stage, rationales=recipe_rationales)
        _, folder = evaluated(stage)
        weights = [(f / "model" / "model.safetensors").read_bytes() for f in (tmp_path / stage, folder)]
        assert weights[0] == weights[1]
        assert not (tmp_path / stage / "best").exists()


def test_keep_best_makes_the_best_weights_the_model(split_data: Path, evaluated: Runs, tmp_path: Path) -> None:
    _, last = evaluated("dpo")
    run_recipe(evaluated_recipe("dpo", split_data, "keep=best"), tmp_path / "run", rationales=recipe_rationales)
    assert not (tmp_path / "run" / "best").exists()
    name = "model.safetensors"
    assert (tmp_path / "run" / "model" / name).read_bytes() == (last / "best" / name).read_bytes()


def test_the_best_step_is_the_first_with_the_best_value(split_data: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"step": 2, "dev/accuracy": 0.5, "dev/reward/r": 0.2},
        {"step": 4, "dev/accuracy": 0.7, "dev/reward/r": 0.1},
        {"step": 5},
        {"step": 6, "dev/accuracy": 0.7, "dev/reward/r": 0.4},
        {"step": 8, "dev/accuracy": float("nan"), "dev/reward/r": 0.3},
    ]
    assert best_of(evaluated_recipe("grpo", split_data), rows) == Best("accuracy", 4, 0.7)
    assert best_of(evaluated_recipe("grpo", split_data, "best_metric=reward"), rows) == Best("reward", 6, 0.4)
    assert best_of(evaluated_recipe("grpo", split_data, "best_metric=label_f1"), rows) is None
    losses = [{"step": step, "dev/loss": loss} for step, loss in ((1, 0.5), (2, 0.3), (3, 0.4))]
    assert best_of(evaluated_recipe("sft", split_data), losses) == Best("loss", 2, 0.3)


def run_with(folder: Path, resolved: Recipe, losses: dict[int, float]) -> RunFolder:
    """A run folder with evaluations and a checkpoint of each of their steps."""
    run = RunFolder(folder, resolved)
    for step, loss in losses.items():
        run.log({"step": step, "dev/loss": loss})
        (run.checkpoints / f"checkpoint-{step}").mkdir(parents=True)
        (run.checkpoints / f"checkpoint-{step}" / "model.safetensors").write_text(str(step))
    return run


def checkpoint(run: RunFolder, step: int) -> Checkpoint:
    return Checkpoint(step, run.checkpoints / f"checkpoint-{step}", sharded=False)


def kept_steps(run: RunFolder) -> list[int]:
    return [kept.step for kept in kept_best(run.checkpoints)]


def test_a_resumed_run_keeps_the_best_that_a_kill_left_unkept(split_data: Path, tmp_path: Path) -> None:
    """The kill came after the checkpoint of step 4 was complete, and before its weights were kept."""
    from judge_r1.training.trl.dev_evaluation import DevEvaluation

    resolved = evaluated_recipe("sft", split_data)
    run = run_with(tmp_path / "run", resolved, {2: 0.5, 4: 0.3})
    keep_if_best(run, resolved, checkpoint(run, 2))
    assert kept_steps(run) == [2]
    args = SimpleNamespace(output_dir=str(run.checkpoints))
    evaluation = DevEvaluation(run, resolved, lambda model: {})
    evaluation.on_train_begin(args, SimpleNamespace(global_step=0, is_world_process_zero=True), None)
    assert kept_steps(run) == [2]
    for _ in range(2):
        evaluation.on_train_begin(args, SimpleNamespace(global_step=4, is_world_process_zero=True), None)
        assert kept_steps(run) == [4]
        assert (run.best_checkpoints / "step-4" / "model.safetensors").read_text() == "4"


def test_later_steps_compete_with_the_weights_that_are_left(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The weights of step 2, the best, were replaced by those of a later checkpoint, which was then damaged."""
    resolved = evaluated_recipe("sft", split_data)
    run = run_with(tmp_path / "run", resolved, {2: 0.1, 4: 0.4, 6: 0.3, 8: 0.5})
    for step in (4, 6, 8):
        keep_if_best(run, resolved, checkpoint(run, step))
    assert kept_steps(run) == [6]
    exported: list[int] = []
    monkeypatch.setattr(
        "judge_r1.training.export_checkpoint.export",
        lambda folder, recipe, chosen, target: exported.append(chosen.step),
    )
    export_best(run, resolved)
    assert (exported, json.loads((run.folder / "best.json").read_text())["step"]) == ([6], 6)
    assert "the weights of step 2, the best by loss, are lost" in capsys.readouterr().err


def test_a_checkpoint_that_is_pruned_while_it_is_kept_keeps_the_one_before(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    resolved = evaluated_recipe("sft", split_data)
    run = run_with(tmp_path / "run", resolved, {2: 0.5, 4: 0.3})
    keep_if_best(run, resolved, checkpoint(run, 2))
    later = checkpoint(run, 4)
    shutil.rmtree(later.folder)
    keep_if_best(run, resolved, later)
    assert kept_steps(run) == [2]
    assert "was pruned before its weights could be kept" in capsys.readouterr().err
    assert [path.name for path in run.best_checkpoints.iterdir()] == ["step-2"]


def test_a_lost_best_costs_the_model_only_if_it_was_to_be_the_model(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for keep in ("last", "best"):
        resolved = evaluated_recipe("sft", split_data, f"keep={keep}")
        run = run_with(tmp_path / keep, resolved, {2: 0.5})
        if keep == "last":
            export_best(run, resolved)
            assert "warning: " in (said := capsys.readouterr().err)
            assert "the weights of step 2 are lost" in said
        else:
            with pytest.raises(NoCheckpoint, match="the weights of step 2 are lost"):
                export_best(run, resolved)


def test_a_run_whose_best_weights_are_lost_still_ends_with_its_model(evaluated: Runs, tmp_path: Path) -> None:
    resolved, whole = evaluated("dpo")
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    for lost in ("model", "best", "checkpoints/best"):
        shutil.rmtree(folder / lost)
    run_recipe(resolved, folder, rationales=recipe_rationales)
    name = "model.safetensors"
    assert (folder / "model" / name).read_bytes() == (whole / "model" / name).read_bytes()
    assert json.loads((folder / "best.json").read_text())["step"] == 4


def test_an_evaluation_that_is_not_finite_leaves_a_readable_log(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from judge_r1.training.trl.dev_evaluation import DevEvaluation

    resolved = evaluated_recipe("sft", split_data)
    evaluation = DevEvaluation(RunFolder(tmp_path / "run", resolved), resolved, lambda model: {})
    logs = {"eval_loss": float("nan"), "eval_mean_token_accuracy": 0.5}
    evaluation.on_log(None, SimpleNamespace(global_step=2), None, logs=logs)
    evaluation.run.log({"step": 2} | evaluation.pop())
    assert read_rows(evaluation.run.folder / "metrics.jsonl") == [{"step": 2, "dev/token_accuracy": 0.5}]
    assert "dev/loss is not finite" in capsys.readouterr().err


def test_dev_pairs_of_a_paper_in_the_training_set_are_refused(tmp_path: Path) -> None:
    reviews = [make_case(f"ana paid {n}.", meta={"group": "a paper"}) for n in range(2)]
    for name, case in zip(("train", "dev"), reviews, strict=True):
        write_pairs(PairSet.of([case], [make_pair(case)]), tmp_path / name)
    with pytest.raises(JudgeError, match=r"share 1 case, or articles of cases, for example legal/a paper"):
        dev_pairs(evaluated_recipe("grpo", tmp_path), load_pairs(tmp_path / "train"))


def test_dev_pairs_are_a_fixed_part_that_grows_with_its_size(split_data: Path) -> None:
    train = load_pairs(split_data / "train")

    def ids(*changes: str) -> list[str]:
        pairs = dev_pairs(evaluated_recipe("grpo", split_data, *changes), train)
        assert pairs is not None
        return [pair.pair_id for pair in pairs.pairs]

    few, more, every = ids(), ids("eval_pairs=4"), ids("eval_pairs=null")
    assert (len(few), few) == (3, ids())
    assert set(few) < set(more) < set(every)
    assert every == [pair.pair_id for pair in load_pairs(split_data / "dev").pairs]
    assert ids("seed=1") != few
    assert dev_pairs(evaluated_recipe("grpo", split_data, "data.dev=null"), train) is None


def test_cases_of_both_folders_are_refused(split_data: Path, tmp_path: Path) -> None:
    shared = evaluated_recipe("grpo", split_data, f"data.dev={split_data / 'train'}")
    with pytest.raises(JudgeError, match=r"data\.dev .* and data\.train .* share \d+ cases?,"):
        run_recipe(shared, tmp_path / "run", rationales=recipe_rationales)
    with pytest.raises(JudgeError, match=r"data\.dev nowhere does not exist.* data\.dev=null"):
        run_recipe(
            evaluated_recipe("grpo", split_data, "data.dev=nowhere"), tmp_path / "run", rationales=recipe_rationales
        )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (["save_every=2", "eval_every=3"], "eval_every 3 must be a multiple of save_every 2"),
        (["data.dev=null", "keep=best"], r"set data\.dev"),
        (["best_metric=loss"], "best_metric of grpo is accuracy or reward or label_f1"),
        (["data.dev=''"], "must not be empty"),
    ],
)
def test_recipes_that_cannot_evaluate_are_refused(split_data: Path, changes: list[str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        evaluated_recipe("grpo", split_data, *changes)
