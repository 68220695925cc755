"""Resumes TRL's trainers from the newest whole checkpoint, completes each new one with a manifest, and saves one when
the run is asked to stop."""

import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from transformers import PrinterCallback, TrainerCallback

from judge_r1.core.errors import JudgeError, storage_full
from judge_r1.core.text_check import counted
from judge_r1.files.jsonl import write_json
from judge_r1.training.checkpoint_manifest import write_manifest
from judge_r1.training.checkpoints import Checkpoint, Processes, checkpoints, clear_newer, newest_whole, processes_of
from judge_r1.training.distributed import is_main, is_worker, process_count, say
from judge_r1.training.preemption import Preempted, StopRequest, save_on_sigterm
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.common import await_files


class ManifestWriter(TrainerCallback):  # type: ignore[misc]
    """Writes the manifest of a checkpoint when all processes have written their parts."""

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        args.distributed_state.wait_for_everyone()
        if state.is_world_process_zero:
            folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            if args.world_size > 1:
                await_files(*(folder / f"rng_state_{rank}.pth" for rank in range(args.world_size)))
            write_manifest(folder)


class SaveOnRequest(TrainerCallback):  # type: ignore[misc]
    """Saves and ends the training after the step in which the run is asked to stop. A step of the recipe has `updates`
    steps of the trainer. The first process decides, so that all end at the same step."""

    def __init__(self, request: StopRequest, updates: int) -> None:
        self.request, self.updates, self.stopped = request, updates, False

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step % self.updates == 0 and state.global_step < state.max_steps and self._requested(args):
            self.stopped = control.should_save = control.should_training_stop = True

    def _requested(self, args: Any) -> bool:
        import torch

        if args.world_size == 1:
            return bool(self.request)
        answer = torch.tensor([int(is_main() and bool(self.request))], device=args.device)
        torch.distributed.broadcast(answer, src=0)
        return bool(answer.item())


def resume(trainer: Any, run: RunFolder, *, updates: int = 1) -> None:
    """Train from the newest whole checkpoint, after truncating the logs to it. A step in the logs is `updates` steps of
    the trainer.

    Raises:
        StorageFull: The disk is full. The incomplete checkpoint is removed.
        Preempted: The run was asked to stop, and has saved a checkpoint.
    """
    from accelerate.utils import broadcast_object_list

    trainer.remove_callback(PrinterCallback)  # metrics.jsonl and the progress lines have what it prints
    request = StopRequest(run.folder)
    stop = SaveOnRequest(request, updates)
    for callback in (ManifestWriter(), stop):
        trainer.add_callback(callback)
    check_process_count(run)
    chosen: list[Checkpoint | None] = [None]
    if is_main():
        chosen = [newest_whole(run.checkpoints, updates)]
        clear_newer(run.checkpoints, chosen[0])
    # One process chooses for all: each may see another state of a shared folder.
    (checkpoint,) = broadcast_object_list(chosen)
    run.truncate_after(checkpoint.step if checkpoint else 0)
    if checkpoint:
        say(f"continues after step {checkpoint.step}")
    _expect_tied_weights(trainer)
    signals = nullcontext() if is_worker() else save_on_sigterm(request)  # a worker's launcher receives them
    with storage_full(run.folder, lambda: _saved_so_far(run, updates)), signals:
        trainer.train(resume_from_checkpoint=str(checkpoint.folder) if checkpoint else None)
    if stop.stopped:
        raise Preempted(run.folder)


def _expect_tied_weights(trainer: Any) -> None:
    """Let transformers warn of weights that a checkpoint lacks, but not of tied ones, which are saved once."""
    tied, warn = getattr(trainer.model, "all_tied_weights_keys", {}), trainer._issue_warnings_after_load

    def warn_of_others(loaded: Any) -> None:
        loaded.missing_keys[:] = [key for key in loaded.missing_keys if key not in tied]
        warn(loaded)

    trainer._issue_warnings_after_load = warn_of_others


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
        raise JudgeError(
            f"{run.folder} was started with {counted(started, 'process')}: resume with --processes {started}, or as "
            "many on several nodes together"
        )
    if is_main():
        run.checkpoints.mkdir(exist_ok=True)
        write_json(run.checkpoints / Processes.NAME, Processes(processes=started).model_dump())
