"""Base of the stored records: strict frozen pydantic models, and ids by content."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


def not_blank(text: str) -> str:
    """A validator of texts."""
    if not text.strip():
        raise ValueError("must not be blank")
    return text


NonEmpty = Annotated[str, Field(min_length=1)]
NotBlank = Annotated[NonEmpty, AfterValidator(not_blank)]
PrincipleNumber = Annotated[int, Field(ge=1, le=6, strict=True)]


def _sorted_unique(numbers: tuple[int, ...]) -> tuple[int, ...]:
    if list(numbers) != sorted(set(numbers)):
        raise ValueError(f"must be sorted and without repeats, not {list(numbers)}")
    return numbers


PrincipleNumbers = Annotated[tuple[PrincipleNumber, ...], AfterValidator(_sorted_unique)]


class Record(BaseModel):
    """Base of all records: immutable, unknown keys are errors. `schema` is the version of the layout."""

    # `defer_build`: the validators of all records take a large part of the start of a command that uses two of them.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def content_hash(*parts: Any, length: int = 16) -> str:
    """The first `length` hex digits of SHA-256 over the parts as canonical JSON with NFC-normalised text."""
    return hashlib.sha256(_canonical(parts).encode()).hexdigest()[:length]


def content_hash_of_list(parts: Iterable[Any]) -> str:
    """`content_hash([*parts])`, for parts that are not in memory together."""
    digest, between = hashlib.sha256(b"[["), ""
    for part in parts:
        digest.update((between + _canonical(part)).encode())
        between = ","
    digest.update(b"]]")
    return digest.hexdigest()[:16]


def _canonical(value: Any) -> str:
    return json.dumps(_normalized(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _normalized(value: Any) -> Any:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, list | tuple):
        return [_normalized(v) for v in value]
    if isinstance(value, dict):
        return {_normalized(k): _normalized(v) for k, v in value.items()}
    return value
