"""Exports a checkpoint as a Hugging Face folder and verifies its weights before moving it into place."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judge_r1.core.errors import JudgeError, storage_full
from judge_r1.core.principles import PRINCIPLES
from judge_r1.models.hub import load_tokenizer, resolve
from judge_r1.models.pretrained import causal_model, classifier, is_classifier, model_config, untrained_model
from judge_r1.training.checkpoints import Checkpoint, checkpoint_at
from judge_r1.training.lora import add_adapters, merge_adapters
from judge_r1.training.model_card import write_card
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import recipe_of_run


@dataclass(frozen=True)
class Merged:
    """An exported model: its step, its folder, and the largest log-probability difference of its verification."""

    step: int
    folder: Path
    difference: float


def merge(run: Path, *, step: int | None = None, out: Path | None = None) -> Merged:
    """Write the model of a run's checkpoint (default: the newest) to `out` (default: `run`/model-step-N).

    Raises:
        JudgeError: The folder exists, or `run` is not a run folder.
        NoCheckpoint: The run has no such checkpoint.
        WeightMismatch: The verification failed. Nothing is written.
    """
    recipe = recipe_of_run(run)
    checkpoint = checkpoint_at(run / "checkpoints", step, recipe.updates)
    target = out or run / f"model-step-{checkpoint.step}"
    if target.exists():
        raise JudgeError(f"{target} exists: remove it, or choose another --out")
    return export(run, recipe, checkpoint, target)


def export(run: Path, recipe: Recipe, checkpoint: Checkpoint, target: Path) -> Merged:
    """Write the model of a verified checkpoint of `run` to `target`.

    Raises:
        WeightMismatch: The verification failed. Nothing is written.
    """
    with atomic_folder(target) as partial:
        weights = _convert(checkpoint, recipe, partial)
        write_card(partial, recipe, checkpoint.step, run / "metrics.jsonl")
        difference = verify_weights(partial, weights)
    return Merged(checkpoint.step, target, difference)


def partial_of(target: Path) -> Path:
    """The path where a folder is written before it is moved to `target`."""
    return target.with_name(f".{target.name}.partial").absolute()


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Yields an empty folder that is renamed to `target` when the block ends, or removed if it raises, so `target` is
    never incomplete.

    Raises:
        StorageFull: The disk is full.
    """
    partial = partial_of(target)
    shutil.rmtree(partial, ignore_errors=True)
    with storage_full(target):
        try:
            partial.mkdir(parents=True)
            yield partial
            partial.rename(target)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise


def _convert(checkpoint: Checkpoint, recipe: Recipe, partial: Path) -> dict[str, Any]:
    """Write the checkpoint's model and tokenizer to `partial`. Returns its weights, read independently."""
    from safetensors.torch import load_file

    if checkpoint.sharded:
        actor = checkpoint.folder.absolute() / "actor"
        weights = read_shards(actor)
        with TemporaryDirectory(dir=partial.parent) as scratch:
            merge_shards(actor, Path(scratch))
            if recipe.lora is None:
                verify_weights(Path(scratch), weights)
                _write_full_precision(Path(scratch), weights, recipe, partial)
                return weights
            add_adapters(recipe, Path(scratch) / "lora_adapter", partial)
        rounded = {name: t.bfloat16() if "lora_" in name else t for name, t in weights.items()}  # as verl writes them
        return merge_adapters(rounded, recipe.lora.alpha, recipe.lora.rank)
    tensors = {n: t for file in sorted(checkpoint.folder.glob("*.safetensors")) for n, t in load_file(file).items()}
    if recipe.lora is None:
        scores = is_classifier(checkpoint.folder)
        model = classifier(checkpoint.folder)[0] if scores else causal_model(checkpoint.folder, dtype="auto")
        model.save_pretrained(partial)
        load_tokenizer(str(checkpoint.folder)).save_pretrained(partial)
        return tensors
    add_adapters(recipe, checkpoint.folder, partial)
    base = causal_model(resolve(recipe.model), dtype="auto").state_dict()
    return merge_adapters(base | tensors, recipe.lora.alpha, recipe.lora.rank)


def _write_full_precision(merged: Path, weights: dict[str, Any], recipe: Recipe, partial: Path) -> None:
    """Write the model with the trained weights in the precision of the initial model: verl's merge tool rounds to
    bfloat16."""
    import torch

    model = causal_model(merged, dtype=model_config(resolve(recipe.model)).dtype or torch.float32)
    model.load_state_dict(weights, strict=False)  # verified names; tied weights are stored once
    model.save_pretrained(partial)
    load_tokenizer(str(merged)).save_pretrained(partial)


MERGE_SECONDS = 3600.0


class Unmergeable(JudgeError):
    """verl's merge tool failed."""


def merge_shards(actor: Path, target: Path) -> None:
    """Merge a checkpoint's `actor` folder into a Hugging Face folder (bfloat16) with `verl.model_merger`.

    Raises:
        Unmergeable: The tool failed or ran longer than `MERGE_SECONDS`.
    """
    command = [sys.executable, "-m", "verl.model_merger", "merge", "--backend", "fsdp"]
    folders = ["--local_dir", str(actor), "--target_dir", str(target)]
    try:
        subprocess.run([*command, *folders], capture_output=True, text=True, timeout=MERGE_SECONDS, check=True)
    except subprocess.TimeoutExpired:
        raise Unmergeable(f"{actor} was not merged within {MERGE_SECONDS:.0f} s") from None
    except subprocess.CalledProcessError as error:
        raise Unmergeable(f"{actor} cannot be merged: {''.join(error.stderr.strip().splitlines()[-1:])}") from None


def read_shards(actor: Path) -> dict[str, Any]:
    """Full weights by name, concatenated from the shards of all ranks along the axis that each DTensor names.

    Only tensors are unpickled: code in a checkpoint is never run."""
    import torch
    from torch.distributed.tensor import DTensor, Shard

    ranks = json.loads((actor / "fsdp_config.json").read_text())["world_size"]
    parts = [
        torch.load(actor / f"model_world_size_{ranks}_rank_{rank}.pt", map_location="cpu", weights_only=True)
        for rank in range(ranks)
    ]

    def full(name: str) -> Any:
        first = parts[0][name]
        if not isinstance(first, DTensor):
            return first
        (placement,) = first.placements
        if not isinstance(placement, Shard):
            return first.to_local()
        return torch.cat([part[name].to_local() for part in parts], dim=placement.dim)

    return {name: full(name) for name in parts[0]}


TOLERANCE = 1e-4
"""Largest accepted log-probability difference. Both models hold the same numbers and compute in float32."""


class WeightMismatch(JudgeError):
    """The saved model differs from the trained weights."""


def verify_weights(folder: Path, weights: Mapping[str, Any]) -> float:
    """Compare the model in `folder` with one that has `weights` (by name), which must come from another source.

    Returns the largest difference of next-token log-probabilities, or of a classifier's scores, over the definitions of
    the six principles. Weights are first rounded to the precision of the folder.

    Raises:
        WeightMismatch: Names do not match, or the difference exceeds `TOLERANCE`.
    """
    import torch
    from transformers.integrations.deepspeed import unset_hf_deepspeed_config

    unset_hf_deepspeed_config()  # otherwise ZeRO-3 would shard the models, in one process
    saved = classifier(folder)[0].cpu() if is_classifier(folder) else causal_model(folder, dtype="auto").eval()
    texts = [load_tokenizer(str(folder)).encode(p.definition, add_special_tokens=False) for p in PRINCIPLES]
    rounded = {name: tensor.to(saved.dtype).float() for name, tensor in weights.items()}
    actual = [_log_probs(saved.float(), ids) for ids in texts]
    # Two models of this size may not fit into memory together.
    del saved
    other = untrained_model(folder, torch.float32).eval()
    missing, unknown = other.load_state_dict(rounded, strict=False)
    tied = set(other.all_tied_weights_keys) if other.config.tie_word_embeddings else set()
    if unknown or set(missing) - tied:
        raise WeightMismatch(f"{folder}: weights do not fit the model; missing {sorted(missing)}, unknown {unknown}")
    other.tie_weights()
    expected = [_log_probs(other, ids) for ids in texts]
    worst = max(float((a - b).abs().max()) for a, b in zip(actual, expected, strict=True))
    if not worst <= TOLERANCE:  # also fails for NaN
        raise WeightMismatch(f"{folder}: log-probabilities differ by {worst:.2g} from those of the trained weights")
    return worst


def _log_probs(model: Any, ids: list[int]) -> Any:
    """Log-probabilities of the ids after the first, [len(ids) - 1]; the scores [outputs] of a classifier."""
    import torch

    row = torch.tensor([ids])
    with torch.no_grad():
        found = model(row).logits[0]
    if found.ndim == 1:
        return found
    logits = found[:-1]
    return logits.log_softmax(-1).gather(-1, row[0, 1:, None]).squeeze(-1)
