"""Manifests of checkpoints: the size and SHA-256 hash of every file, written last, so that damage is found later."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pydantic import BaseModel, Field

from judge_r1.core.errors import JudgeError
from judge_r1.files.jsonl import write_json
from judge_r1.files.strict_json import read_model
from judge_r1.models.hub import file_hash

MANIFEST, SCHEMA = "manifest.json", 1
_THREADS = 8
"""Files that are hashed at the same time."""


class _File(BaseModel):
    size: int
    sha256: str


class _Manifest(BaseModel):
    schema_: int = Field(alias="schema")
    files: dict[str, _File]


def write_manifest(folder: Path) -> None:
    """Write the manifest of a checkpoint whose other files are complete."""
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    names = [name for name in names if name != MANIFEST]  # an earlier attempt at this step may have left one
    hashes = _hashes([folder / name for name in names])
    files = {
        name: _File(size=(folder / name).stat().st_size, sha256=digest)
        for name, digest in zip(names, hashes, strict=True)
    }
    write_json(folder / MANIFEST, _Manifest(schema=SCHEMA, files=files).model_dump(by_alias=True))


def find_damage(folder: Path) -> str | None:
    """The first difference between a checkpoint and its manifest as a sentence; None if there is none.

    Raises:
        JudgeError: The manifest has another schema.
    """
    try:
        manifest = read_model(_Manifest, folder / MANIFEST)
    except JudgeError:
        return f"{MANIFEST} cannot be read"
    if manifest.schema_ != SCHEMA:
        raise JudgeError(
            f"{folder / MANIFEST} has schema {manifest.schema_}, and this version reads {SCHEMA}: use the "
            "version that wrote it, or choose another --out"
        )
    for name, file in manifest.files.items():
        if not (folder / name).is_file():
            return f"{name} is missing"
        if (actual := (folder / name).stat().st_size) != file.size:
            return f"{name} has {actual} bytes instead of {file.size}"
    try:
        hashes = _hashes([folder / name for name in manifest.files])
    except OSError as error:
        return f"{error.filename} cannot be read: {error.strerror}"
    for (name, file), found in zip(manifest.files.items(), hashes, strict=True):
        if found != file.sha256:
            return f"the content of {name} has changed"
    return None


def _hashes(paths: Sequence[Path]) -> list[str]:
    with ThreadPoolExecutor(_THREADS) as pool:  # hashing releases Python's lock
        return list(pool.map(file_hash, paths))
