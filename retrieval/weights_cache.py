"""Where weights come from: the cache folder of unpacked ones, and the Hugging Face hub, which is asked once."""

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


TIMEOUT_S = 10.0


def hub_problem(name: str, file: str = "config.json") -> str | None:
    """Why a model cannot come from the hub or its cache; None if it can, or if `name` is a folder.

    Only a hub that does not answer is a problem. A name that cannot be one of the hub, and what a hub answers, such as
    that it has no such model, are left to the library that loads the model.
    """
    if os.path.isabs(name) or Path(name).exists():
        return None
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        cached = try_to_load_from_cache(name, file)
    except HFValidationError:  # the library that loads the model names what is wrong
        return None
    if isinstance(cached, str) or constants.HF_HUB_OFFLINE:
        return None  # offline, the libraries read the cache alone, at once
    try:
        get_hf_file_metadata(hf_hub_url(name, file), timeout=TIMEOUT_S)
    except Exception as error:  # of httpx or requests, by the version
        if getattr(error, "response", None) is not None:
            return None
        return (
            f"the hub {constants.ENDPOINT} cannot be reached ({type(error).__name__}), and its cache lacks {name}: "
            "check the network and HF_ENDPOINT, or give the folder of a downloaded model"
        )
    return None
