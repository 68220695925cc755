"""Reads and merges verl's FSDP2 checkpoints, which have one file of shards per rank."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError

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
