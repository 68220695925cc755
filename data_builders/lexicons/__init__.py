"""Loads the JSON files of this folder: word lists and phrases of the rules and of the source `mini`."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator

from judge_r1.core.errors import JudgeError, explain

T = TypeVar("T")
FOLDER = Path(__file__).parent


class LexiconError(JudgeError):
    """A lexicon file is missing or does not fit its schema."""


class Lexicon(BaseModel):
    """Base of the schemas: frozen, and unknown keys fail."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class WordClass(Lexicon):
    """Words that can replace each other in a slot of `slots.json`.

    All words of a class share their grammar: a mass noun and a countable noun never share a class. `distance` limits a
    swap to words whose ranks differ by no more.
    """

    name: str
    slot: str = ""
    words: tuple[str, ...]
    distance: int | None = None

    @model_validator(mode="after")
    def _check_words(self) -> "WordClass":
        if len(set(self.words)) < len(self.words):
            raise ValueError(f"class {self.name!r} lists a word twice")
        return self


class Phrases(Lexicon):
    """Templates by operator. A `{slot}` in a template or a part stands for one entry of `parts[slot]`."""

    templates: dict[str, tuple[str, ...]]
    parts: dict[str, tuple[str, ...]] = {}


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
