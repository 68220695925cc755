"""The cache of unpacked weights: where it is, and how a folder comes into it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path


def cache_dir() -> Path:
    """Where unpacked weights are kept: `$JUDGE_R1_CACHE`, or `~/.cache/judge_r1` where that is unset or empty."""
    return Path(os.environ.get("JUDGE_R1_CACHE") or "~/.cache/judge_r1").expanduser()


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """`folder`, filled by `build` under another name and then renamed: it is whole, or absent.

    One process builds while others wait for it; what a killed one left is cleared away by the next.
    """
    if folder.exists():
        return folder
    from filelock import FileLock

    partial = folder.with_name(f".{folder.name}.partial")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{partial}.lock"):
        if not folder.exists():
            shutil.rmtree(partial, ignore_errors=True)
            try:
                partial.mkdir()
                build(partial)
                partial.rename(folder)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    return folder
