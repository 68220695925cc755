"""A checkpoint as a normal Hugging Face folder, proven to be the trained model before it is put in place."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.models.hub import load_tokenizer, resolve
from judge_r1.training.checkpoints import Checkpoint, checkpoint_at
from judge_r1.training.export.model_card import write_card
from judge_r1.training.export.weight_verification import verify_weights
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.trl.lora import add_adapters, folded


@dataclass(frozen=True)
class Merged:
    """A model that was written: of which step, where, and the largest difference of a log-probability in its proof."""

    step: int
    folder: Path
    difference: float


def merge(run: Path, *, step: int | None = None, out: Path | None = None) -> Merged:
    """Write the model of a run's checkpoint, the newest by default, to `out` (`run`/model-step-N by default).

    Errors: JudgeError if the folder exists; NoCheckpoint; NotTheSame if the proof fails, and then nothing is written.
    """
    if not (run / "recipe.yaml").exists():
        raise JudgeError(f"{run} holds no run (no recipe.yaml): give the folder that `judge-r1 train` writes to")
    recipe = load_recipe(run / "recipe.yaml")
    updates = recipe.grpo.updates_per_step if recipe.stage == "grpo" else 1
    checkpoint = checkpoint_at(run / "checkpoints", step, updates)
    target = out or run / f"model-step-{checkpoint.step}"
    if target.exists():
        raise JudgeError(f"{target} exists: remove it, or choose another --out")
    with placed(target) as partial:
        weights = _convert(checkpoint, recipe, partial)
        write_card(partial, recipe, checkpoint.step, run / "metrics.jsonl")
        difference = verify_weights(partial, weights)
    return Merged(checkpoint.step, target, difference)


def partial_of(target: Path) -> Path:
    """Where a folder is written before it is put in place."""
    return target.with_name(f".{target.name}.partial").absolute()


@contextmanager
def placed(target: Path) -> Iterator[Path]:
    """An empty folder that becomes `target` when the block ends, and is removed if it raises: a folder of that name is
    whole, whatever was killed before."""
    partial = partial_of(target)
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        partial.rename(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _convert(checkpoint: Checkpoint, recipe: Recipe, partial: Path) -> dict[str, Any]:
    """Write the checkpoint's model and tokenizer to `partial`; its weights, read apart from that."""
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM

    if checkpoint.sharded:
        from judge_r1.training.verl.fsdp_checkpoint import merge_shards, read_shards

        actor = checkpoint.folder.absolute() / "actor"
        weights = read_shards(actor)
        with TemporaryDirectory(dir=partial.parent) as scratch:
            merge_shards(actor, Path(scratch))
            if recipe.lora is None:
                verify_weights(Path(scratch), weights)
                _as_precise(Path(scratch), weights, recipe, partial)
                return weights
            add_adapters(recipe, Path(scratch) / "lora_adapter", partial)
        rounded = {name: t.bfloat16() if "lora_" in name else t for name, t in weights.items()}  # as verl writes them
        return folded(rounded, recipe.lora)
    tensors = {n: t for file in sorted(checkpoint.folder.glob("*.safetensors")) for n, t in load_file(file).items()}
    if recipe.lora is None:
        AutoModelForCausalLM.from_pretrained(checkpoint.folder, dtype="auto").save_pretrained(partial)
        load_tokenizer(str(checkpoint.folder)).save_pretrained(partial)
        return tensors
    add_adapters(recipe, checkpoint.folder, partial)
    base = AutoModelForCausalLM.from_pretrained(resolve(recipe.model), dtype="auto").state_dict()
    return folded(base | tensors, recipe.lora)


def _as_precise(merged: Path, weights: dict[str, Any], recipe: Recipe, partial: Path) -> None:
    """Write what verl's tool has merged, which rounds to bfloat16, with the trained weights as precise as those of the
    model that the run started from."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    dtype = AutoConfig.from_pretrained(resolve(recipe.model)).dtype or torch.float32
    model = AutoModelForCausalLM.from_pretrained(merged, dtype=dtype)
    model.load_state_dict(weights, strict=False)  # its names were proven; tied weights stand once
    model.save_pretrained(partial)
    load_tokenizer(str(merged)).save_pretrained(partial)
