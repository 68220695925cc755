"""A damaged checkpoint is found, named and not used: training resumes from the newest whole one to the same weights."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from turn_recipes import Runs, timeless, weights

from judge_r1.core.errors import JudgeError
from judge_r1.training.checkpoint_manifest import MANIFEST, find_damage, write_manifest
from judge_r1.training.checkpoints import NoCheckpoint, checkpoint_at, checkpoints, newest_whole, resume_verl_at
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.resources import Resources
from judge_r1.training.verl.log_follower import ManifestThread


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "truncated weights": ("model.safetensors", truncate, r"model\.safetensors has \d+ bytes instead of \d+"),
    "changed weights": ("model.safetensors", flip_a_bit, r"the content of model\.safetensors has changed"),
    "truncated optimizer": ("optimizer.pt", truncate, r"optimizer\.pt has \d+ bytes instead of \d+"),
    "empty state": ("trainer_state.json", lambda path: path.write_text("{}"), r"trainer_state\.json has 2 bytes"),
    "empty random state": ("rng_state.pth", lambda path: path.write_bytes(b""), r"rng_state\.pth has 0 bytes"),
    "missing scheduler": ("scheduler.pt", Path.unlink, r"scheduler\.pt is missing"),
    "damaged manifest": (MANIFEST, truncate, r"manifest\.json cannot be read"),
}


def before_the_model(whole: Path, folder: Path) -> Path:
    """A copy of a run as a kill before its model was written would leave it. Returns its last checkpoint."""
    shutil.copytree(whole, folder, ignore=shutil.ignore_patterns("model"))
    return folder / "checkpoints" / "checkpoint-4"


def assert_same_run(one: Path, other: Path) -> None:
    assert timeless(one) == timeless(other)
    expected = weights(other)
    assert all(torch.equal(parameter, expected[name]) for name, parameter in weights(one).items())


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named_and_the_checkpoint_before_is_used(
    damage: str, trained: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (_, whole), (name, break_file, message) = trained("sft"), DAMAGES[damage]
    last = before_the_model(whole, tmp_path / "run")
    break_file(last / name)
    found = newest_whole(last.parent)
    assert found is not None
    assert found.step == 2
    warning = " ".join(capsys.readouterr().err.split())
    assert f"checkpoint {last} is damaged and is not used: " in warning
    assert re.search(message, warning)


@pytest.mark.parametrize(("stage", "damage"), [("sft", "damaged manifest"), ("dpo", "missing scheduler")])
def test_training_resumes_from_the_newest_whole_checkpoint(
    stage: str,
    damage: str,
    trained: Runs,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (recipe, whole), (name, break_file, _) = trained(stage), DAMAGES[damage]
    last, warnings = before_the_model(whole, tmp_path / "run"), list[str]()
    break_file(last / name)
    monkeypatch.setattr("transformers.trainer.logger.warning", warnings.append)
    run_recipe(recipe, tmp_path / "run", Resources(1))
    assert "is damaged and is not used" in capsys.readouterr().err
    assert not [warning for warning in warnings if "missing keys" in warning]  # tied weights are saved once
    assert_same_run(tmp_path / "run", whole)
    assert find_damage(last) is None
    assert last.with_name("damaged-checkpoint-4").exists()


def test_without_a_whole_checkpoint_training_starts_again(
    trained: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, whole = trained("sft")
    last = before_the_model(whole, tmp_path / "run")
    for folder in (last, last.with_name("checkpoint-2")):
        truncate(folder / "optimizer.pt")
    run_recipe(recipe, tmp_path / "run", Resources(1))
    assert capsys.readouterr().err.count("is damaged and is not used") == 2
    assert_same_run(tmp_path / "run", whole)
    assert [checkpoint.step for checkpoint in checkpoints(last.parent)] == [2, 4]


def test_a_manifest_with_another_schema_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text('{"schema": 2, "files": {}}')
    with pytest.raises(JudgeError, match=r"manifest\.json has schema 2, .* reads 1: .*another --out"):
        find_damage(tmp_path)


def test_a_checkpoint_whose_saving_was_interrupted_is_not_complete(trained: Runs, tmp_path: Path) -> None:
    _, whole = trained("sft")
    last = before_the_model(whole, tmp_path / "run")
    (last / MANIFEST).unlink()
    assert [checkpoint.step for checkpoint in checkpoints(last.parent)] == [2]
    (last.with_name("checkpoint-2") / MANIFEST).unlink()
    assert newest_whole(last.parent) is None


def test_merge_exports_no_damaged_checkpoint(trained: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from judge_r1.training.export_checkpoint import merge

    _, whole = trained("sft")
    last = before_the_model(whole, tmp_path / "run")
    truncate(last / "model.safetensors")
    with pytest.raises(
        NoCheckpoint,
        match=r"checkpoint-4 is damaged \(model\.safetensors has .*\): choose another step; it has steps 2, 4",
    ):
        merge(tmp_path / "run", step=4)
    assert merge(tmp_path / "run").step == 2
    assert "is damaged and is not used" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content", ["", "[1]", "[" * 100_000, '{"files": 1}', '{"files": {"a": {}}}', '{"files": {"/x": {"size": 1}}}']
)
def test_a_damaged_manifest_is_damage(tmp_path: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_text(content)
    assert find_damage(tmp_path) == f"{MANIFEST} cannot be read"


def test_a_file_outside_the_checkpoint_is_damage(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text('{"schema": 1, "files": {"/no/such/file": {"size": 1, "sha256": "0"}}}')
    assert find_damage(tmp_path) == "/no/such/file is missing"


def verl_checkpoint(folder: Path, step: int) -> Path:
    shards = folder / f"global_step_{step}" / "actor"
    shards.mkdir(parents=True)
    (shards / "model_world_size_1_rank_0.pt").write_bytes(b"weights")
    (shards.parent / "data.pt").write_bytes(b"order")
    (folder / "latest_checkpointed_iteration.txt").write_text(str(step))
    return shards.parent


def test_verl_resumes_from_the_newest_whole_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifests, marker = ManifestThread(tmp_path), tmp_path / "latest_checkpointed_iteration.txt"
    first = verl_checkpoint(tmp_path, 2)
    manifests.update()
    manifests.finish()
    last = verl_checkpoint(tmp_path, 4)
    assert newest_whole(tmp_path) == checkpoint_at(tmp_path, 4)
    assert "global_step_4 has no manifest.json" in capsys.readouterr().err
    manifests.finish()
    (last / "actor" / "model_world_size_1_rank_0.pt").write_bytes(b"Weights")
    resume_verl_at(tmp_path, newest_whole(tmp_path))
    assert marker.read_text() == "2"
    assert "the content of actor/model_world_size_1_rank_0.pt has changed" in capsys.readouterr().err
    (first / "data.pt").unlink()
    write_manifest(last)
    marker.write_text("")
    resume_verl_at(tmp_path, newest_whole(tmp_path))
    assert marker.read_text() == "4"
    (last / "data.pt").write_bytes(b"orde")
    resume_verl_at(tmp_path, newest_whole(tmp_path))
    assert not marker.exists()
