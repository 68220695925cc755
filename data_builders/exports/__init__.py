"""What trainers read: one file per format, each registers itself. A row is made of one pair and its case."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from judge_r1.core.jsonl import Writing, dump_line
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.registry import Registry
from judge_r1.episode.config import EpisodeConfig
from judge_r1.training.data.targets import AnswerForm, PreferenceForm


@dataclass(frozen=True)
class Options:
    """What the user chooses: prompts as an episode shows them, how answers are written, what a preference is between,
    and the seed of what is drawn."""

    config: EpisodeConfig = field(default_factory=EpisodeConfig)
    answer: AnswerForm = "json"
    preference: PreferenceForm = "judgment"
    seed: int = 0


Row = Callable[[ReasoningPair, Case, int, str], dict[str, Any]]
"""(pair, its case, the row's number in its split, the split's name) -> the row."""


class Sink(Protocol):
    """A file that is being written and put in place when its block ends; a block that raises leaves nothing."""

    def write(self, row: dict[str, Any]) -> None: ...


class Lines:
    """Rows as JSON Lines."""

    def __init__(self, path: Path) -> None:
        self._path, self._writing = path, Writing(path)

    def __enter__(self) -> "Lines":
        self._writing.__enter__()
        return self

    def write(self, row: dict[str, Any]) -> None:
        self._writing.write(self._path, dump_line(row))

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._writing.__exit__(kind, *rest)


@dataclass(frozen=True)
class Format:
    """A way to write pairs down.

    `tables` gives, under the options, the rows of each table by its name; `notes` says for the dataset card what they
    hold. `llama_factory` is what LLaMA-Factory's dataset_info.json has to say about each table, if it can read them.
    """

    help: str
    tables: Callable[[Options], Mapping[str, Row]]
    notes: Callable[[Options], Sequence[str]]
    llama_factory: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    suffix: str = "jsonl"
    open: Callable[[Path], AbstractContextManager[Sink]] = Lines


FORMATS: Registry[Format] = Registry("export format", __name__)
