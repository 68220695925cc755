"""Manifests of checkpoints: the size and SHA-256 hash of every file, written last, so that damage is found later."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.files.jsonl import write_json
from judge_r1.files.strict_json import read_json
from judge_r1.models.hub import file_hash

MANIFEST, SCHEMA = "manifest.json", 1
_THREADS = 8
"""Files that are hashed at the same time."""


def write_manifest(folder: Path) -> None:
    """Write the manifest of a checkpoint whose other files are complete."""
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    names = [name for name in names if name != MANIFEST]  # an earlier attempt at this step may have left one
    hashes = _hashes([folder / name for name in names])
    files = {
        name: {"size": (folder / name).stat().st_size, "sha256": digest}
        for name, digest in zip(names, hashes, strict=True)
    }
    write_json(folder / MANIFEST, {"schema": SCHEMA, "files": files})


def find_damage(folder: Path) -> str | None:
    """The first difference between a checkpoint and its manifest as a sentence; None if there is none.

    Raises:
        JudgeError: The manifest has another schema.
    """
    try:
        manifest = read_json(folder / MANIFEST)
        files = manifest["files"]
        expected = [(name, int(entry["size"]), str(entry["sha256"])) for name, entry in files.items()]
    except (JudgeError, ValueError, LookupError, TypeError, AttributeError):
        return f"{MANIFEST} cannot be read"
    if manifest.get("schema") != SCHEMA:
        raise JudgeError(
            f"{folder / MANIFEST} has schema {manifest.get('schema')}, and this version reads {SCHEMA}: use the "
            "version that wrote it, or choose another --out"
        )
    for name, size, _ in expected:
        if not (folder / name).is_file():
            return f"{name} is missing"
        if (actual := (folder / name).stat().st_size) != size:
            return f"{name} has {actual} bytes instead of {size}"
    try:
        hashes = _hashes([folder / name for name, _, _ in expected])
    except OSError as error:
        return f"{error.filename} cannot be read: {error.strerror}"
    for (name, _, digest), found in zip(expected, hashes, strict=True):
        if found != digest:
            return f"the content of {name} has changed"
    return None


def _hashes(paths: Sequence[Path]) -> list[str]:
    with ThreadPoolExecutor(_THREADS) as pool:  # hashing releases Python's lock
        return list(pool.map(file_hash, paths))
