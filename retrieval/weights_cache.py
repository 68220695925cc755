"""The cache folder of unpacked weights."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path


def cache_dir() -> Path:
    """Returns the cache folder: `$JUDGE_R1_CACHE`, or `~/.cache/judge_r1` if that is unset or empty."""
    return Path(os.environ.get("JUDGE_R1_CACHE") or "~/.cache/judge_r1").expanduser()


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """Returns `folder`; if it does not exist, `build` fills a temporary folder, which is then renamed to `folder`.

    The folder is therefore complete or absent. One process builds while others wait. The next call removes what a
    killed process left behind.
    """
    if folder.exists():
        return folder
    from filelock import FileLock

    partial = folder.with_name(f".{folder.name}.partial")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{partial}.lock"):
        if not folder.exists():
            shutil.rmtree(partial, ignore_errors=True)
            print(f"preparing {folder}, once", file=sys.stderr, flush=True)
            try:
                partial.mkdir()
                build(partial)
                partial.rename(folder)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    return folder
