"""Export formats: how a data set is written for trainers. Each module of this package registers a format for pairs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from judge_r1.core.principles import NUMBERS
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.registry import Registry
from judge_r1.episode.config import EpisodeConfig
from judge_r1.files.jsonl import AtomicFiles, dump_line
from judge_r1.training.data.targets import AnswerForm, PreferenceForm

E = TypeVar("E")


@dataclass(frozen=True)
class Options:
    """The user's options: the episode whose prompts are shown, the form of answers, what a preference compares, and the
    seed of random choices. `principles` are those that the data violates, which `export` sets."""

    config: EpisodeConfig = field(default_factory=EpisodeConfig)
    answer: AnswerForm = "json"
    preference: PreferenceForm = "judgment"
    seed: int = 0
    principles: Sequence[int] = NUMBERS


USER_OPTIONS = ("config", "answer", "preference", "seed")


class PairExample(NamedTuple):
    """A pair and its case."""

    pair: ReasoningPair
    case: Case


Row = Callable[[E, int, str], dict[str, Any]]
"""(example, index of the row in its split, name of the split) -> the row."""


class RowWriter(Protocol):
    """An open file. It is put in place when its block ends; a block that raises leaves nothing."""

    def write(self, row: dict[str, Any]) -> None: ...


class _JsonLines:
    def __init__(self, path: Path, files: AtomicFiles) -> None:
        self._path, self._files = path, files

    def write(self, row: dict[str, Any]) -> None:
        self._files.write(self._path, dump_line(row))


@contextmanager
def json_lines(path: Path) -> Iterator[RowWriter]:
    """Writes rows as JSON Lines."""
    with AtomicFiles(path) as files:
        yield _JsonLines(path, files)


@dataclass(frozen=True)
class Format(Generic[E]):
    """An export format.

    `tables` maps the name of each table to the function that makes its rows; `notes` describes them for the dataset
    card. `llama_factory` returns the entries of LLaMA-Factory's dataset_info.json for the tables that it can read.
    `reads` names the options that the rows depend on: `judge-r1 export` refuses the others. `limit` names the option
    of the trainer that cuts long rows.
    """

    help: str
    tables: Callable[[Options], Mapping[str, Row[E]]]
    notes: Callable[[Options], Sequence[str]]
    llama_factory: Callable[[Options], Mapping[str, Mapping[str, Any]]] = lambda options: {}
    suffix: str = "jsonl"
    open: Callable[[Path], AbstractContextManager[RowWriter]] = json_lines
    reads: Sequence[str] = USER_OPTIONS
    limit: str | None = None


ALPACA_SYSTEM = {
    "formatting": "alpaca",
    "columns": {"system": "instruction", "prompt": "input", "response": "output"},
}
"""LLaMA-Factory's entry for Alpaca fields whose instruction is the system message."""


def alpaca_row(prompt: Sequence[Mapping[str, str]], output: str) -> dict[str, Any]:
    """The Alpaca fields of a system and a user message."""
    system, user = prompt
    return {"instruction": system["content"], "input": user["content"], "output": output}


TRL_LIMIT = "max_length of SFTConfig and DPOConfig (1,024 tokens by default)"
FACTORY_LIMIT = "cutoff_len (2,048 tokens by default)"
"""What cuts a long row without a word: TRL 1.16 its end, the answer; LLaMA-Factory parts of the prompt."""
_TEXTS = ("content", "value", "instruction", "input", "output")


def longest_text(row: Mapping[str, Any]) -> str:
    """The text that a trainer reads of a row, without the markup of a chat: of a preference with the longer answer."""
    sides = sorted((_text(row[name]) for name in ("chosen", "rejected") if name in row), key=len)
    rest = {name: value for name, value in row.items() if name not in ("chosen", "rejected")}
    return "\n".join([_text(rest), *sides[-1:]])


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "\n".join(v if k in _TEXTS and isinstance(v, str) else _text(v) for k, v in value.items())
    return "\n".join(map(_text, value)) if isinstance(value, list) else ""


def single(
    help: str, notes: Callable[[Options], Sequence[str]], limit: str | None = None, /, **tables: Row[E]
) -> Format[E]:
    """A format whose rows depend on no option. LLaMA-Factory reads its Alpaca table `sft`, if it has no other one."""
    entries = {"sft": ALPACA_SYSTEM} if list(tables) == ["sft"] else {}
    return Format(help, lambda options: tables, notes, lambda options: entries, reads=(), limit=limit)


def _as_it_is(record: Any, index: int, split: str) -> dict[str, Any]:
    row: dict[str, Any] = record.model_dump(mode="json", by_alias=True)
    return row


AS_RECORDS: Format[Any] = single("the records as they are", lambda options: (), records=_as_it_is)
FORMATS: Registry[Format[PairExample]] = Registry("export format", __name__)
