"""Complete checkpoints of a run after kills while one was being written."""

from pathlib import Path

import pytest

from judge_r1.training.checkpoint_manifest import write_manifest
from judge_r1.training.checkpoints import NoCheckpoint, checkpoint_at, checkpoints


def trl_checkpoint(folder: Path, step: int, *, manifest: bool = True) -> None:
    (folder / f"checkpoint-{step}").mkdir(parents=True)
    (folder / f"checkpoint-{step}" / "trainer_state.json").write_text('{"global_step": 1}')
    if manifest:
        write_manifest(folder / f"checkpoint-{step}")


def verl_checkpoint(folder: Path, step: int, *, data: bool = True) -> None:
    (folder / f"global_step_{step}" / "actor").mkdir(parents=True)
    if data:
        (folder / f"global_step_{step}" / "data.pt").write_bytes(b"order")


def steps(folder: Path) -> list[int]:
    return [checkpoint.step for checkpoint in checkpoints(folder)]


def test_a_trl_checkpoint_is_complete_with_its_manifest(tmp_path: Path) -> None:
    assert steps(tmp_path / "absent") == []
    trl_checkpoint(tmp_path, 8, manifest=False)
    trl_checkpoint(tmp_path, 9)
    trl_checkpoint(tmp_path, 10)
    trl_checkpoint(tmp_path, 100, manifest=False)
    assert steps(tmp_path) == [9, 10]
    assert not any(checkpoint.sharded for checkpoint in checkpoints(tmp_path))


def test_a_verl_checkpoint_is_complete_once_the_marker_names_it(tmp_path: Path) -> None:
    verl_checkpoint(tmp_path, 2)
    assert steps(tmp_path) == []
    marker = tmp_path / "latest_checkpointed_iteration.txt"
    marker.write_text("2")
    verl_checkpoint(tmp_path, 10)
    assert steps(tmp_path) == [2]
    marker.write_text("10")
    verl_checkpoint(tmp_path, 12, data=False)
    assert steps(tmp_path) == [2, 10]
    assert all(checkpoint.sharded for checkpoint in checkpoints(tmp_path))


def test_a_missing_checkpoint_is_an_error_that_lists_the_others(tmp_path: Path) -> None:
    with pytest.raises(NoCheckpoint, match="has no checkpoint: none is complete"):
        checkpoint_at(tmp_path, None)
    trl_checkpoint(tmp_path, 5)
    trl_checkpoint(tmp_path, 10)
    assert checkpoint_at(tmp_path, None).step == 10
    assert checkpoint_at(tmp_path, 5).step == 5
    with pytest.raises(NoCheckpoint, match="has no checkpoint of step 7: it has steps 5, 10"):
        checkpoint_at(tmp_path, 7)
