"""Runs the checks of a request in a process of its own: `python -m judge_r1.training.preflight REQUEST`.

The last line of output is a JSON list of sentences. An import that crashes, and the memory of an embedder, end with the
process. The checks here load what a run loads: its model and embedder, and the disk for its checkpoints.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from judge_r1.training.preflight.packages import for_gpus, problems

GB = 10**9
WEIGHT_FILES = ("model.safetensors.index.json", "model.safetensors")
HUB_SECONDS = 20.0


def tokenizer(model: str) -> str | None:
    """The tokenizer of `model` loads."""
    from judge_r1.core.errors import JudgeError
    from judge_r1.models.hub import text_tokenizer

    try:
        text_tokenizer(model)
    except JudgeError as error:
        return f"{error}{_offline_hint(model)}"
    return None


def weights(model: str) -> str | None:
    """The weights of `model` are in its folder or in the hub's cache, or the hub is reachable."""
    if model.startswith("bundled:"):
        return None
    if Path(model).exists():
        found = any(Path(model).glob("*.safetensors"))
        return None if found else f"the model folder {model} has no *.safetensors: copy the whole model"
    from huggingface_hub import HfApi, constants, try_to_load_from_cache

    if any(isinstance(try_to_load_from_cache(model, name), str) for name in WEIGHT_FILES):
        return None
    where = f"{model} is not in the hub's cache {constants.HF_HUB_CACHE}"
    download = f"run `hf download {model}` on a machine with access, with HF_HOME on shared storage"
    if constants.HF_HUB_OFFLINE:
        return f"{where}, and HF_HUB_OFFLINE forbids to fetch it: {download}"
    try:
        HfApi().model_info(model, timeout=HUB_SECONDS)
    except Exception as error:  # the hub client raises many types: no network, unknown model, no permission
        why = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return f"{where}, and the hub cannot be used ({why}): {download}, and set HF_HUB_OFFLINE=1"
    return None


def embedder(name: str) -> str | None:
    """The embedder `name` loads and embeds a query on the processor, or the server `name` answers; bm25 needs none."""
    if name == "bm25":
        return None
    from judge_r1.episode.config import is_server

    if is_server(name):
        return _server(name)
    from retrieval.embedders import load_embedder
    from retrieval.errors import RetrievalError

    try:
        load_embedder(name).encode_queries(["a query"])
    except (RetrievalError, OSError, RuntimeError) as error:
        return f"{str(error).splitlines()[0]}{_offline_hint(name)}"
    return None


def _server(url: str) -> str | None:
    import httpx

    try:
        answer = httpx.get(f"{url.rstrip('/')}/healthz", timeout=HUB_SECONDS, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return f"the retrieval server {url} cannot be reached ({error}): start python -m retrieval.server"
    return None if answer.status_code == 200 else f"the retrieval server {url} answers with {answer.status_code}"


def disk(folder: str, wanted: int) -> str | None:
    """`folder` has `wanted` bytes free. A quota of the file system is not visible."""
    free = shutil.disk_usage(folder).free
    if free >= wanted:
        return None
    return (
        f"{folder} has {free / GB:.0f} GB free, and the run's checkpoints need about {wanted / GB:.0f} GB: free some "
        "space, or move the run with --out"
    )


def _offline_hint(name: str) -> str:
    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON")
    on_hub = not name.startswith("bundled:") and not Path(name).exists()
    return "; HF_HUB_OFFLINE is set, so it must be in the hub's cache" if offline and on_hub else ""


FILE_CHECKS: Mapping[str, Callable[..., str | None]] = MappingProxyType(
    {"tokenizer": tokenizer, "weights": weights, "embedder": embedder, "disk": disk}
)
"""The checks by name. A request to a node holds their arguments."""


def main(request: str) -> None:
    checks = json.loads(request)
    on_gpus = checks["gpu_packages"]
    found = problems([*checks["packages"], *(on_gpus if on_gpus and for_gpus() else [])])  # which imports torch
    found += [problem for name, arguments in checks["files"] if (problem := FILE_CHECKS[name](*arguments))]
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
