"""Loads the JSON files of this folder: word lists and phrases of the rules and of the source `mini`."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from judge_r1.core.errors import JudgeError, explain

T = TypeVar("T")
FOLDER = Path(__file__).parent


class LexiconError(JudgeError):
    """A lexicon file is missing or does not fit its schema."""


class Lexicon(BaseModel):
    """Base of the schemas: frozen, and unknown keys fail."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def load_lexicon(name: str, schema: type[T], folder: Path = FOLDER) -> T:
    """Read `NAME.json` as `schema`.

    Raises:
        LexiconError: the file cannot be read, is not JSON, or does not fit the schema.
    """
    path = folder / f"{name}.json"
    try:
        return TypeAdapter(schema).validate_json(path.read_bytes())
    except OSError as error:
        raise LexiconError(f"cannot read the lexicon {path}: {error.strerror}") from None
    except ValidationError as error:
        raise LexiconError(f"{path}: {explain(error)}") from None
