"""Loads the JSON files of this folder: word lists and phrases of the rules and of the source `mini`."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter

T = TypeVar("T")


class Lexicon(BaseModel):
    """Base of the schemas: frozen, and unknown keys fail."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def load_lexicon(name: str, schema: type[T]) -> T:
    """Read `NAME.json` as `schema`."""
    return TypeAdapter(schema).validate_json(Path(__file__).with_name(f"{name}.json").read_bytes())
