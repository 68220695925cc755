"""The votes of an evaluation on disk: one line of `votes.jsonl` per vote, read back on demand."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judge_r1.core.errors import JudgeError, explain
from judge_r1.core.items import Item, Order, Vote
from judge_r1.core.memory import DocumentMemory
from judge_r1.core.record_base import NonEmpty, Record, content_hash_of_list
from judge_r1.core.records import Trajectory
from judge_r1.core.text_check import counted
from judge_r1.core.verdicts import Verdict
from judge_r1.files.append_log import AppendLog
from judge_r1.files.arrays.positions import LineIndex
from judge_r1.files.digests import DIGEST, Checked, SumDigest, read_checked_lines, with_digest, without_digest
from judge_r1.files.evaluation_files import SUMMARY, VOTES
from judge_r1.files.jsonl import BadRecord, lines_at

if TYPE_CHECKING:
    from judge_r1.files.arrays.id_table import IdTable

M = TypeVar("M", bound=BaseModel)


class EvaluationError(JudgeError):
    """An evaluation that cannot start or resume; the message says why."""


class StoredVote(Record):
    """One line of `votes.jsonl`, before its digest: a vote with its trajectory. `row` is the name of the panel,
    `member` the index of the judge in it, and `usage` the cost at an endpoint (`judge_r1.models.base.Usage`). `memory`
    holds the notes behind an invalid verdict; a judgment holds its own."""

    row: NonEmpty
    item_id: NonEmpty
    order: Order
    sample: int = Field(ge=0)
    member: int = Field(ge=0)
    verdict: Verdict
    trajectory: Trajectory
    usage: dict[str, float] | None = None
    memory: tuple[DocumentMemory, ...] = ()

    @property
    def key(self) -> tuple[int, str, tuple[int, ...], int]:
        return self.member, self.item_id, self.order, self.sample

    @property
    def place(self) -> tuple[int, int, tuple[int, ...]]:
        """The position of the vote among those of its item."""
        return self.member, self.sample, self.order

    @property
    def vote(self) -> Vote:
        judgment = self.trajectory.judgment
        return Vote(
            order=self.order,
            sample=self.sample,
            member=self.member,
            verdict=self.verdict,
            ended=self.trajectory.ended,
            searches=self.trajectory.searches,
            confidence=judgment.confidence if judgment else None,
        )


class _VoteId(BaseModel):
    """The fields of a vote that an index needs."""

    model_config = ConfigDict(extra="ignore")
    row: str
    item_id: str


class StoredVotes(Mapping[str, list[StoredVote]]):
    """The votes of a panel by item id. Only the places of their lines are in memory. `ids` are those of all items, if
    they are known. `digest` is that of all of these votes."""

    def __init__(self, path: Path, ids: Mapping[str, int] | None = None) -> None:
        self.path, self.digest = path, SumDigest()
        self._growing: dict[str, int] = {}
        self._numbers = self._growing if ids is None else ids
        self._lines = LineIndex(len(self._numbers))

    def add(self, item_id: str, offset: int, digest: str) -> int:
        """Notes a vote. Returns the number of votes of its item."""
        self.digest.add(digest)
        if (number := self._numbers.get(item_id)) is None:
            number = self._growing[item_id] = self._lines.grow()
        return self._lines.add(number, offset)

    def __getitem__(self, item_id: str) -> list[StoredVote]:
        if not self.count(item_id):
            raise KeyError(item_id)
        offsets = self._lines[self._numbers[item_id]]
        return [self._parse(line, at) for line, at in zip(lines_at(self.path, offsets), offsets, strict=True)]

    def __contains__(self, item_id: object) -> bool:
        return isinstance(item_id, str) and self.count(item_id) > 0

    def __iter__(self) -> Iterator[str]:
        return (item_id for item_id, count in zip(self._numbers, self._lines.counts, strict=True) if count)

    def __len__(self) -> int:
        return sum(map(bool, self._lines.counts))

    def count(self, item_id: str) -> int:
        """The number of votes of an item, without reading them."""
        return 0 if (number := self._numbers.get(item_id)) is None else self._lines.counts[number]

    def counts(self) -> Sequence[int]:
        """The number of votes of each item of `ids`."""
        return self._lines.counts

    def _parse(self, line: str, offset: int) -> StoredVote:
        try:
            return StoredVote.model_validate_json(without_digest(line.encode())[0])
        except ValidationError as error:
            raise BadRecord(f"{self.path}, byte {offset}: {explain(error)}") from None


def summarized(out: Path, summary: Mapping[str, Any], model: type[M]) -> Iterator[Checked]:
    """The lines of the votes that the summary of `out` was made of, as records of `model`, which have a `row`.

    Raises:
        EvaluationError: The file holds others. It is raised at the end.
        BadRecord: A line was changed.
    """
    path, told = out / VOTES, summary[DIGEST]["votes"]
    sums = {panel: SumDigest() for panel in told}
    for found in lines_of(path, model) if told else ():
        if (own := sums.get(found.record.row)) is not None:
            own.add(found.digest)
            yield found
    for panel, digest in told.items():
        if (own := sums[panel]).text != digest:
            count = int(digest.partition(":")[0])
            has = f"{count} other votes" if own.count == count else f"{counted(own.count, 'vote')} and not the {count}"
            raise EvaluationError(
                f"{path}: judge {panel!r} has {has} that {SUMMARY} was made of: restore the file, or remove lines that "
                "are there twice and judge what is missing with `judge-r1 eval --resume` and the original options"
            )


def summarized_votes(out: Path, summary: Mapping[str, Any]) -> dict[str, StoredVotes]:
    """The votes of the panels in the summary, by panel. Raises: EvaluationError if they are others (`summarized`)."""
    panels = {panel: StoredVotes(out / VOTES) for panel in summary[DIGEST]["votes"]}
    for offset, digest, stored in summarized(out, summary, _VoteId):
        panels[stored.row].add(stored.item_id, offset, digest)
    return panels


def lines_of(path: Path, model: type[M]) -> Iterator[Checked]:
    """The lines of votes.jsonl as records of `model`. Raises: BadRecord if a line was changed."""
    return read_checked_lines(path, model, made_by="judge again into another --out")


def stored_counts(out: Path) -> Counter[str]:
    """The number of votes in `out/votes.jsonl` by panel, up to the first damaged or torn line."""
    counts = Counter[str]()
    with suppress(BadRecord):
        counts.update(found.record.row for found in lines_of(out / VOTES, _VoteId))
    return counts


def stored_votes(out: Path, row: str | None = None) -> Iterator[StoredVote]:
    """Streams `out/votes.jsonl`, of one panel or of all, in the order of the file."""
    return (stored for _, _, stored in lines_of(out / VOTES, StoredVote) if row is None or stored.row == row)


@contextmanager
def append_votes(path: Path) -> Iterator[Callable[[StoredVote], tuple[int, str]]]:
    """Yields a function that appends a vote and returns the byte offset of its line and its digest."""
    with AppendLog(path, outcome="the finished votes are kept for a run with --resume") as log:

        def append(stored: StoredVote) -> tuple[int, str]:
            line, digest = with_digest(stored.model_dump_json(by_alias=True).encode())
            return log.append(line), digest

        yield append


def items_hash(items: Sequence[Item], ids: "IdTable | None" = None) -> str:
    """The hash of a panel's items in `rows.json`. `ids` are those of the items, if they are known."""
    from judge_r1.files.arrays.id_table import IdTable

    order = (ids or IdTable(item.item_id for item in items)).order

    def described() -> Iterator[list[Any]]:
        for index in order:
            item = items[int(index)]
            yield [item.item_id, item.model_dump()["candidates"], item.gold]

    return content_hash_of_list(described())
