"""The shards of verl's FSDP2 checkpoints, one file a rank: merged by verl's own tool, and read here once more."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError

MERGE_SECONDS = 3600.0


class Unmergeable(JudgeError):
    """Shards that verl's tool makes no model of."""


def merge_shards(actor: Path, target: Path) -> None:
    """Write a checkpoint's `actor` folder as a Hugging Face folder (bfloat16) by `verl.model_merger`."""
    command = [sys.executable, "-m", "verl.model_merger", "merge", "--backend", "fsdp"]
    folders = ["--local_dir", str(actor), "--target_dir", str(target)]
    try:
        subprocess.run([*command, *folders], capture_output=True, text=True, timeout=MERGE_SECONDS, check=True)
    except subprocess.TimeoutExpired:
        raise Unmergeable(f"{actor} was not merged within {MERGE_SECONDS:.0f} s") from None
    except subprocess.CalledProcessError as error:
        raise Unmergeable(f"{actor} cannot be merged: {''.join(error.stderr.strip().splitlines()[-1:])}") from None


def read_shards(actor: Path) -> dict[str, Any]:
    """The whole weights by name, put together from every rank's part (a DTensor says along which axis). Nothing but
    tensors is unpickled: no code in a checkpoint is run."""
    import torch
    from torch.distributed.tensor import DTensor, Shard

    ranks = json.loads((actor / "fsdp_config.json").read_text())["world_size"]
    parts = [
        torch.load(actor / f"model_world_size_{ranks}_rank_{rank}.pt", map_location="cpu", weights_only=True)
        for rank in range(ranks)
    ]

    def whole(name: str) -> Any:
        first = parts[0][name]
        if not isinstance(first, DTensor):
            return first
        (where,) = first.placements
        if not isinstance(where, Shard):
            return first.to_local()
        return torch.cat([part[name].to_local() for part in parts], dim=where.dim)

    return {name: whole(name) for name in parts[0]}
