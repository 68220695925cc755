"""Base of the stored records: strict frozen pydantic models, and ids by content."""

import hashlib
import json
import unicodedata
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

NonEmpty = Annotated[str, Field(min_length=1)]
PrincipleNumber = Annotated[int, Field(ge=1, le=6, strict=True)]


class Record(BaseModel):
    """Base of all records: immutable, unknown keys are errors. `schema` is the version of the layout."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def content_hash(*parts: Any, length: int = 16) -> str:
    """The first `length` hex digits of SHA-256 over the parts as canonical JSON with NFC-normalised text."""
    canonical = json.dumps(_normalized(parts), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:length]


def _normalized(value: Any) -> Any:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, list | tuple):
        return [_normalized(v) for v in value]
    if isinstance(value, dict):
        return {_normalized(k): _normalized(v) for k, v in value.items()}
    return value
