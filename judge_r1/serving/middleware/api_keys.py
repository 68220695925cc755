"""API keys in a file that stores only their hashes.

A key is 32 random bytes, so a plain SHA-256 hash of it cannot be inverted. It is shown once, when it is created.
"""

import hmac
import secrets
from hashlib import sha256
from pathlib import Path

from pydantic import Field

from judge_r1.core.errors import JudgeError, invalid_as, read_error
from judge_r1.core.record_base import Record
from judge_r1.files.file_lock import lock_folder
from judge_r1.files.jsonl import AtomicFiles
from judge_r1.files.strict_json import BadJson, parse_model

PER_MINUTE = 600
"""Default rate limit of a key, in judgments per minute."""
_PREFIX = "jr1-"
_LOCK_S = 30.0
"""Seconds to wait for another process that changes the file."""


class BadKeys(JudgeError):
    """A key file that cannot be used, or a key that it does not hold."""


class Key(Record):
    """`name` is the tenant of the key's requests; `per_minute` limits its judgments."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    per_minute: int = Field(ge=1)


class Keys(Record):
    keys: tuple[Key, ...] = ()


class KeyFile:
    """The keys of a file, which is read again when it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp, self._keys = _stamp(path), read_keys(path)

    def find(self, secret: str) -> Key | None:
        """The key with this secret. Compares every hash in constant time, so timing reveals nothing."""
        if (stamp := _stamp(self.path)) != self._stamp:
            self._stamp, self._keys = stamp, read_keys(self.path)
        digest, found = _hash(secret), None
        for key in self._keys:
            if hmac.compare_digest(key.sha256, digest):
                found = key
        return found


def read_keys(path: Path) -> tuple[Key, ...]:
    """Raises BadKeys."""
    try:
        return parse_model(Keys, path.read_bytes(), path).keys
    except FileNotFoundError:
        raise BadKeys(f"there is no file {path}: create a key with `judge-r1 keys add NAME --file {path}`") from None
    except BadJson as error:
        raise BadKeys(f"{path} is not a key file: {error.reason}") from None
    except OSError as error:
        raise BadKeys(str(read_error(path, error))) from None


def add_key(path: Path, name: str, per_minute: int = PER_MINUTE) -> str:
    """Creates a key and returns its secret, which is stored nowhere. Raises JudgeError for a taken or invalid name."""
    secret = _PREFIX + secrets.token_urlsafe(32)
    with invalid_as(BadKeys, f"key {name!r}"):
        key = Key(name=name, sha256=_hash(secret), per_minute=per_minute)
    with lock_folder(path.parent, _LOCK_S):
        keys = read_keys(path) if path.exists() else ()
        if any(key.name == name for key in keys):
            raise BadKeys(f"{path} already has a key {name!r}: remove it first, or use another name")
        _write(path, (*keys, key))
    return secret


def remove_key(path: Path, name: str) -> None:
    """Raises JudgeError if there is no key with this name."""
    with lock_folder(path.parent, _LOCK_S):
        keys = read_keys(path)
        remaining = tuple(key for key in keys if key.name != name)
        if len(remaining) == len(keys):
            raise BadKeys(f"{path} has no key {name!r}: `judge-r1 keys list --file {path}` lists them")
        _write(path, remaining)


def _write(path: Path, keys: tuple[Key, ...]) -> None:
    """Replaces the file atomically, readable only by its owner. Raises JudgeError."""
    with AtomicFiles(path, private=True) as file:
        file.write(path, Keys(keys=keys).model_dump_json(indent=1) + "\n")


def _hash(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def _stamp(path: Path) -> tuple[int, int]:
    """Changes when the file does; (0, 0) for a missing file, which `read_keys` then reports."""
    try:
        stat = path.stat()
    except OSError:
        return 0, 0
    # The inode, too: the file is replaced, and clocks of file systems may be coarse.
    return stat.st_mtime_ns, stat.st_ino
