"""Shared parts of the TRL trainers: arguments, distributed data, and saving the model."""

import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.progress import StageTimer
from judge_r1.core.text_check import counted
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.rollout import RolloutRunner
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.models.open_model import open_model
from judge_r1.training.best_checkpoint import export_best
from judge_r1.training.data.training_pairs import by_length, shuffled
from judge_r1.training.distributed import is_main, process_count
from judge_r1.training.export_checkpoint import atomic_folder, partial_of, verify_weights
from judge_r1.training.lora import add_adapters, merge_adapters
from judge_r1.training.model_card import write_card
from judge_r1.training.preflight.packages import deepspeed
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import ADAPTERS, EXAMPLES, RunFolder
from judge_r1.training.stage_config import DpoConfig, SftConfig

VISIBLE_SECONDS = 90.0
"""How long a new file may take to appear on other machines (NFS caches directory listings for a minute)."""
_HOUR = 3600
"""Seconds that processes wait for each other. The first one makes the examples while the others wait."""


def common_arguments(recipe: Recipe, *, save_steps: int) -> dict[str, Any]:
    """Arguments of every TRL trainer."""
    import torch

    on_gpu = torch.cuda.is_available()
    if not on_gpu:
        from judge_r1.training.trl.label_logprobs import score_in_blocks

        project_labelled_positions_only()
        score_in_blocks()
    if recipe.stage == "grpo" and (process_count() > 1 or (on_gpu and torch.cuda.device_count() > 1)):
        raise JudgeError("this engine trains in one process on one GPU: set CUDA_VISIBLE_DEVICES=0, without torchrun")
    return {
        "use_cpu": not on_gpu,
        "bf16": on_gpu,
        "gradient_checkpointing": on_gpu,
        "seed": recipe.seed,
        "logging_steps": 1,
        # Trainer would leave NaN out of the logged loss, and the run would not stop (`RunLog`).
        "logging_nan_inf_filter": False,
        "save_steps": save_steps,
        # The last but one remains for a newest checkpoint that a kill left damaged.
        "save_total_limit": 2,
        "report_to": list(recipe.trackers),
        "disable_tqdm": True,
        "dataloader_num_workers": 0,
    }


def policy_runner(
    name: str, weights: Any, data: PairSet, episode: EpisodeConfig, rows: int, timer: StageTimer | None = None
) -> RolloutRunner:
    """Runs episodes of pairs on the model of this name with these `weights` (None: its own), `rows` at a time."""
    model = open_model(name, concurrency=rows, background=False, persistent=False, weights=weights)
    tokenizer, driver = SafeTokenizer(model.tokenizer), EpisodeDriver(model.model)
    return RolloutRunner(data, episode, tokenizer, driver, model.eos_ids, timer=timer)


def supervised_arguments(recipe: Recipe, part: SftConfig | DpoConfig, run: RunFolder) -> dict[str, Any]:
    """Arguments of SFT and DPO. Examples come in the order of the data set: with sequential sampling, processes take
    micro-batches in turn, so a step has the same examples with any number of processes."""
    micro = micro_batch(recipe, process_count())
    return common_arguments(recipe, save_steps=recipe.save_every) | {
        "output_dir": str(run.checkpoints),
        "num_train_epochs": 1,
        "max_steps": part.max_steps,
        "per_device_train_batch_size": micro,
        "per_device_eval_batch_size": part.micro_batch_size,
        "gradient_accumulation_steps": part.batch_size // micro // process_count(),
        "learning_rate": part.learning_rate,
        "warmup_steps": part.warmup_ratio,
        "lr_scheduler_type": "cosine",
        # TRL's default truncates at 1024 tokens.
        "max_length": None,
        # The rows are already in the order of training (`ordered`).
        "train_sampling_strategy": "sequential",
        "ddp_timeout": _HOUR,
        "ddp_find_unused_parameters": False,
        "deepspeed": deepspeed_config(recipe),
    }


def micro_batch(recipe: Recipe, processes: int) -> int:
    """The largest micro-batch up to the recipe's that divides the part of a process in a batch of SFT or DPO. Gradients
    are summed over micro-batches, so only memory and speed depend on it.

    Raises:
        JudgeError: The batch does not divide among the processes.
    """
    stage, part = recipe.stage, recipe.sft if recipe.stage == "sft" else recipe.dpo
    share, rest = divmod(part.batch_size, processes)
    if rest:
        raise JudgeError(
            f"recipe {recipe.name}: {stage}.batch_size {part.batch_size} does not divide among "
            f"{counted(processes, 'process')}: change it, or use fewer processes"
        )
    return max(size for size in range(1, part.micro_batch_size + 1) if share % size == 0)


def deepspeed_config(recipe: Recipe) -> dict[str, Any] | None:
    """The shipped DeepSpeed configuration that the recipe names, or None.

    Raises:
        JudgeError: DeepSpeed is not installed.
    """
    if recipe.deepspeed is None:
        return None
    if missing := deepspeed():
        raise JudgeError(missing)
    file = files("judge_r1.training") / "deepspeed" / f"{recipe.deepspeed}.json"
    config: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return config


def let_cpus_train(args: Any) -> None:
    """Settings for several processes on CPUs.

    accelerate enables DeepSpeed only on accelerators, although it works on CPUs. It also names the device `cpu:0`, to
    which torch cannot load checkpoints (DeepSpeed loads its own)."""
    import torch
    from accelerate.utils import DistributedType

    if args.use_cpu and args.deepspeed:
        import deepspeed

        args.distributed_state.distributed_type = DistributedType.DEEPSPEED
        deepspeed.init_distributed("gloo")  # joins an existing group; ZeRO-3 needs it while loading the model
    elif args.use_cpu:
        vars(args)["_setup_devices"] = torch.device("cpu")  # the value of `args.device`


def ordered(
    args: Any,
    recipe: Recipe,
    part: SftConfig | DpoConfig,
    run: RunFolder,
    make: Callable[[], Sequence[Mapping[str, Any]]],
    *,
    sort: bool = True,
) -> Any:
    """The examples of the whole run in training order, as a data set; with `sort`, a batch has similar lengths.

    `make` returns each example once, with its number of tokens as `length`. It runs in the first process, and the
    others read its result. The last batch is filled from the next epoch. The data set ends with the run, so a trainer
    that resumes from the last checkpoint finds no more examples.
    """
    data = _examples(args, run.folder / EXAMPLES / "train", make)
    wanted = -(-round(part.epochs * len(data)) // part.batch_size) * part.batch_size
    last = part.max_steps * part.batch_size if part.max_steps > 0 else wanted
    total = max(wanted, last)
    order = (
        by_length(list(data["length"]), total, part.batch_size, recipe.seed)
        if sort
        else shuffled(len(data), total, recipe.seed)
    )[:last]
    return data.remove_columns("length").select(order)


def _examples(args: Any, shared: Path, make: Callable[[], Sequence[Mapping[str, Any]]]) -> Any:
    """The examples as a data set, made by the first process and read by the others from the folder `shared`."""
    from datasets import Dataset, load_from_disk

    if args.world_size == 1:
        return Dataset.from_list(list(make()))
    if is_main():
        shutil.rmtree(shared, ignore_errors=True)
        Dataset.from_list(list(make())).save_to_disk(str(shared))
    args.distributed_state.wait_for_everyone()
    await_files(shared / "dataset_info.json", shared / "state.json")
    return load_from_disk(str(shared))


def dev_examples(args: Any, run: RunFolder, make: Callable[[], Sequence[Mapping[str, Any]]] | None) -> Any:
    """The examples of the dev pairs in their order, as a data set; None without dev pairs."""
    if make is None:
        return None
    return _examples(args, run.folder / EXAMPLES / "dev", make).remove_columns("length")


def save_model(trainer: Any, run: RunFolder, recipe: Recipe) -> None:
    """Write and verify `run.model`, with adapters merged, and the best model if the run evaluates on dev pairs. A
    folder appears only when it is complete."""
    from transformers.integrations.deepspeed import unset_hf_deepspeed_config

    if recipe.keep == "best":
        if is_main():
            unset_hf_deepspeed_config()  # otherwise ZeRO-3 would shard the exported model
            export_best(run, recipe)
            shutil.rmtree(run.folder / EXAMPLES, ignore_errors=True)
        return
    weights = trainer.accelerator.get_state_dict(trainer.model_wrapped)  # in all processes: ZeRO-3 gathers here
    saved = run.folder / ADAPTERS if recipe.lora else partial_of(run.model)
    if not is_main():
        trainer.save_model(str(saved))  # takes part in gathering, writes nothing
        return
    try:
        with atomic_folder(run.model) as partial:
            trainer.save_model(str(saved))
            weights = {name: tensor.cpu() for name, tensor in weights.items()}  # the optimiser may fill the GPU
            if recipe.lora:
                add_adapters(recipe, saved, partial)
                weights = merge_adapters(weights, recipe.lora.alpha, recipe.lora.rank)
            write_card(partial, recipe, None, run.folder / "metrics.jsonl")
            verify_weights(partial, weights)
            if recipe.data.dev is not None:  # before `model` appears, which ends the run
                export_best(run, recipe)
    finally:
        for left in (run.folder / ADAPTERS, run.folder / EXAMPLES):
            shutil.rmtree(left, ignore_errors=True)


def project_labelled_positions_only() -> None:
    """Let TRL's fused LM head skip positions without a label on processors, as where Triton compiles its kernel. The
    values of the others stay equal. Elsewhere it projects every position, prompt and observations included, which
    costs a large part of a step of a small model."""
    from trl.trainer import utils

    compact = utils._use_triton
    if getattr(compact, "_on_processors", False):
        return

    def on_processors_too(device: Any) -> bool:
        return device.type == "cpu" or bool(compact(device))

    vars(on_processors_too)["_on_processors"] = True
    utils._use_triton = on_processors_too


def await_files(*files: Path) -> None:
    """Wait until this machine sees files that processes of other machines have written, up to `VISIBLE_SECONDS`."""
    until = time.monotonic() + VISIBLE_SECONDS
    while not all(file.exists() for file in files) and time.monotonic() < until:
        time.sleep(0.2)
