"""Resumes TRL's trainers from the newest whole checkpoint, and completes each new one with a manifest."""

import shutil
from pathlib import Path
from typing import Any

from transformers import PrinterCallback, TrainerCallback

from judge_r1.core.errors import JudgeError, storage_full
from judge_r1.core.jsonl import write_json
from judge_r1.training.checkpoint_manifest import write_manifest
from judge_r1.training.checkpoints import PROCESSES, Checkpoint, checkpoints, clear_newer, newest_whole, processes_of
from judge_r1.training.distributed import is_main, process_count
from judge_r1.training.run_folder import RunFolder


class ManifestWriter(TrainerCallback):  # type: ignore[misc]
    """Writes the manifest of a checkpoint when all processes have written their parts."""

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        args.distributed_state.wait_for_everyone()
        if state.is_world_process_zero:
            write_manifest(Path(args.output_dir) / f"checkpoint-{state.global_step}")


def resume(trainer: Any, run: RunFolder, *, updates: int = 1) -> None:
    """Train from the newest whole checkpoint, after truncating the logs to it. A step in the logs is `updates` steps of
    the trainer.

    Raises:
        StorageFull: The disk is full. The incomplete checkpoint is removed.
    """
    from accelerate.utils import broadcast_object_list

    trainer.remove_callback(PrinterCallback)  # metrics.jsonl and `judge-r1 watch` have what it prints
    trainer.add_callback(ManifestWriter())
    check_process_count(run)
    chosen: list[Checkpoint | None] = [None]
    if is_main():
        chosen = [newest_whole(run.checkpoints, updates)]
        clear_newer(run.checkpoints, chosen[0])
    (checkpoint,) = broadcast_object_list(chosen)
    run.truncate_after(checkpoint.step if checkpoint else 0)
    with storage_full(run.folder, lambda: _saved_so_far(run, updates)):
        trainer.train(resume_from_checkpoint=str(checkpoint.folder) if checkpoint else None)


def _saved_so_far(run: RunFolder, updates: int) -> str:
    """Remove the checkpoint that a full disk made incomplete. Returns a sentence about the last complete one."""
    complete = checkpoints(run.checkpoints, updates)
    if is_main():
        for folder in set(run.checkpoints.glob("checkpoint-*")) - {checkpoint.folder for checkpoint in complete}:
            shutil.rmtree(folder, ignore_errors=True)
    return f"training can resume from step {complete[-1].step}" if complete else "no checkpoint has been saved yet"


def check_process_count(run: RunFolder) -> None:
    """Check that a resumed run has as many processes as its checkpoints.

    Raises:
        JudgeError: They are of another number.
    """
    started = processes_of(run.checkpoints) or process_count()
    if started != process_count() and checkpoints(run.checkpoints):
        raise JudgeError(f"{run.folder} was started with {started} process(es): resume with --processes {started}")
    if is_main():
        run.checkpoints.mkdir(exist_ok=True)
        write_json(run.checkpoints / PROCESSES, {"processes": started})
