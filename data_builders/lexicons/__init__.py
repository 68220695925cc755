"""Loads word lists and phrases: the JSON files of this folder, for the rules, and those of other folders."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter

T = TypeVar("T")


class Lexicon(BaseModel):
    """Base of the schemas: frozen, and unknown keys fail."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def load_lexicon(name: str, schema: type[T], folder: Path = Path(__file__).parent) -> T:
    """Read `NAME.json` as `schema`."""
    return TypeAdapter(schema).validate_json((folder / f"{name}.json").read_bytes())
