"""Loads and checks a folder of cases and pairs as `judge-r1 build` writes it: whole (`load_pairs`), or as a stream."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import lines_at, read_jsonl, read_with_offsets
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.strict_json import parse_model

CASES_FILE, PAIRS_FILE = "cases.jsonl", "pairs.jsonl"
CACHED_CASES = 32
"""Cases that `StoredCases` caches. The pairs of a case are adjacent in a file, so few cases are read twice."""


@dataclass(frozen=True)
class PairSet:
    """Pairs with the cases they belong to, by id. `cases` may be in memory or on disk (`StoredCases`)."""

    cases: Mapping[str, Case]
    pairs: Sequence[ReasoningPair]

    @classmethod
    def of(cls, cases: Iterable[Case], pairs: Iterable[ReasoningPair]) -> "PairSet":
        return cls({case.case_id: case for case in cases}, list(pairs))

    @property
    def texts(self) -> dict[str, str]:
        """The context of each case, which a retriever may search."""
        return {case_id: case.context for case_id, case in self.cases.items()}

    def by_id(self) -> dict[str, ReasoningPair]:
        return {pair.pair_id: pair for pair in self.pairs}

    def case_of(self, pair: ReasoningPair) -> Case:
        return self.cases[pair.case_id]


class StoredCases(Mapping[str, Case]):
    """The cases of a file by id. The byte `offsets` of their lines are in memory, the texts stay on disk."""

    def __init__(self, path: Path, offsets: Mapping[str, int]) -> None:
        self.path, self.offsets = path, offsets
        self._read = lru_cache(CACHED_CASES)(self._from_disk)

    def __getitem__(self, case_id: str) -> Case:
        return self._read(self.offsets[case_id])

    def __iter__(self) -> Iterator[str]:
        return iter(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets)

    def _from_disk(self, offset: int) -> Case:
        (line,) = lines_at(self.path, [offset])
        return parse_model(Case, line, self.path)


def load_pairs(folder: Path) -> PairSet:
    """Reads both files of a folder into memory.

    Raises:
        JudgeError: An id repeats, or a pair has no case or another reference or domain than its case.
    """
    cases = {case.case_id: case for case in read_jsonl(folder / CASES_FILE, Case, unique="case_id")}
    return PairSet(cases, [pair for _, pair, _ in stored_pairs(folder, cases)])


def open_cases(folder: Path) -> StoredCases:
    """The cases of a folder, which stay on disk. All of them are validated now."""
    path = folder / CASES_FILE
    return StoredCases(path, {case.case_id: offset for offset, case in read_with_offsets(path, Case, unique="case_id")})


def stored_pairs(folder: Path, cases: Mapping[str, Case]) -> Iterator[tuple[int, ReasoningPair, Case]]:
    """Streams (byte offset of the line, pair, its case), checked as by `load_pairs`."""
    empty = True
    for offset, pair in read_with_offsets(folder / PAIRS_FILE, ReasoningPair, unique="pair_id"):
        empty = False
        yield offset, pair, case_of(pair, cases, folder)
    if empty:
        raise JudgeError(f"{folder / PAIRS_FILE} has no pairs")


def case_of(pair: ReasoningPair, cases: Mapping[str, Case], folder: Path) -> Case:
    """The case of a pair read from `folder`. Raises JudgeError if it is missing or does not match the pair."""
    where = f"{folder / PAIRS_FILE}: pair {pair.pair_id}"
    if (case := cases.get(pair.case_id)) is None:
        raise JudgeError(f"{where} names case {pair.case_id}, which {CASES_FILE} does not hold: rebuild the folder")
    if pair.reference != case.reference:
        raise JudgeError(f"{where} prefers a reasoning that is not its case's reference: rebuild the folder")
    if pair.domain != case.domain:
        raise JudgeError(f"{where} has domain {pair.domain!r}, its case {case.domain!r}: rebuild the folder")
    return case
