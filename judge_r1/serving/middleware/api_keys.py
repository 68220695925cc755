"""Who may ask: API keys in a file that holds their hashes alone.

A key is 32 random bytes, so that one SHA-256 of it can be guessed by nobody; it is shown once, when it is made.
"""

import hmac
import os
import secrets
from hashlib import sha256
from pathlib import Path

from pydantic import Field, ValidationError

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import explain
from judge_r1.core.records import Record

PER_MINUTE = 600
"""Judgments that a key may ask for in a minute, unless it is made with another number."""
_PREFIX = "jr1-"


class BadKeys(JudgeError):
    """A file of keys that cannot be used, or a key that is not in it."""


class Key(Record):
    """`name` owns what is put with the key; `per_minute` judgments may be asked for in a minute."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    per_minute: int = Field(ge=1)


class Keys(Record):
    keys: tuple[Key, ...] = ()


class KeyFile:
    """The keys of a file, read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp, self._keys = _stamp(path), read_keys(path)

    def find(self, secret: str) -> Key | None:
        """The key that this is. Every hash is compared, in constant time: how long it takes tells nothing."""
        if (stamp := _stamp(self.path)) != self._stamp:
            self._stamp, self._keys = stamp, read_keys(self.path)
        digest, found = _hash(secret), None
        for key in self._keys:
            if hmac.compare_digest(key.sha256, digest):
                found = key
        return found


def read_keys(path: Path) -> tuple[Key, ...]:
    """Errors: BadKeys."""
    try:
        return Keys.model_validate_json(path.read_text(encoding="utf-8")).keys
    except FileNotFoundError:
        raise BadKeys(f"there is no file {path}: make a key with `judge-r1 keys add NAME --file {path}`") from None
    except ValidationError as error:
        raise BadKeys(f"{path} is no file of keys: {explain(error)}") from None
    except UnicodeDecodeError:
        raise BadKeys(f"{path} is no file of keys: it is not UTF-8") from None
    except OSError as error:
        raise BadKeys(f"{path} cannot be read: {error.strerror}") from None


def add_key(path: Path, name: str, per_minute: int = PER_MINUTE) -> str:
    """A new key, which stands nowhere else. Errors: BadKeys for a name that is taken or no name."""
    keys = read_keys(path) if path.exists() else ()
    if any(key.name == name for key in keys):
        raise BadKeys(f"{path} has a key {name!r} already: remove it first, or take another name")
    secret = _PREFIX + secrets.token_urlsafe(32)
    try:
        key = Key(name=name, sha256=_hash(secret), per_minute=per_minute)
    except ValidationError as error:
        raise BadKeys(f"key {name!r}: {explain(error)}") from None
    _write(path, (*keys, key))
    return secret


def remove_key(path: Path, name: str) -> None:
    """Errors: BadKeys where there is none of this name."""
    keys = read_keys(path)
    kept = tuple(key for key in keys if key.name != name)
    if len(kept) == len(keys):
        raise BadKeys(f"{path} has no key {name!r}: `judge-r1 keys list --file {path}` shows them")
    _write(path, kept)


def _write(path: Path, keys: tuple[Key, ...]) -> None:
    """All or nothing, readable by its owner alone."""
    part = path.with_name(f"{path.name}.part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(Keys(keys=keys).model_dump_json(indent=1) + "\n")
    os.replace(part, path)


def _hash(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def _stamp(path: Path) -> tuple[int, int]:
    """What changes when the file does; (0, 0) where it is gone, which reading will say."""
    try:
        stat = path.stat()
    except OSError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_ino
