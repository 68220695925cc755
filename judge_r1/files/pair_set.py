"""Loads and checks a folder of cases and pairs as `judge-r1 build` writes it: into memory (`load_pairs`), by offset
(`open_pairs`), or as a stream (`stored_pairs`)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from sys import intern

from judge_r1.core.errors import JudgeError
from judge_r1.core.folders import lacks, name_below
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.files.arrays.positions import LazySequence
from judge_r1.files.arrays.stored_records import StoredRecords
from judge_r1.files.jsonl import ids_with_offsets, read_jsonl, read_with_offsets

CASES_FILE, PAIRS_FILE = "cases.jsonl", "pairs.jsonl"


@dataclass(frozen=True)
class PairSet:
    """Pairs with the cases they belong to, by id, in memory (`load_pairs`) or on disk (`open_pairs`)."""

    cases: Mapping[str, Case]
    pairs: Sequence[ReasoningPair]

    @classmethod
    def of(cls, cases: Iterable[Case], pairs: Iterable[ReasoningPair]) -> "PairSet":
        return cls({case.case_id: case for case in cases}, list(pairs))

    @property
    def texts(self) -> "CaseTexts":
        """The context of each case, which a retriever may search."""
        return CaseTexts(self.cases)

    def by_id(self) -> Mapping[str, ReasoningPair]:
        if isinstance(self.pairs, StoredPairs):
            return self.pairs.records
        return {pair.pair_id: pair for pair in self.pairs}

    @property
    def domains(self) -> Sequence[str]:
        """The domain of each pair, in order."""
        known = self.pairs.domains if isinstance(self.pairs, StoredPairs) else ()
        return known or [pair.domain for pair in self.pairs]

    @property
    def ids(self) -> Sequence[str]:
        """The pair ids, in order."""
        return self.pairs.keys if isinstance(self.pairs, StoredPairs) else [pair.pair_id for pair in self.pairs]

    def of_ids(self, pair_ids: Sequence[str]) -> "PairSet":
        """The set with these pairs alone, on disk if they are there."""
        found = self.by_id()
        if isinstance(found, StoredRecords):
            return PairSet(self.cases, StoredPairs(found.path, ((one, found.offsets[one]) for one in pair_ids)))
        return PairSet(self.cases, [found[one] for one in pair_ids])

    def case_of(self, pair: ReasoningPair) -> Case:
        return self.cases[pair.case_id]


class CaseTexts(Mapping[str, str]):
    """The contexts of cases by case id. `folder` holds the cases if they are on disk."""

    def __init__(self, cases: Mapping[str, Case]) -> None:
        self.cases = cases

    @property
    def folder(self) -> Path | None:
        return self.cases.path.parent if isinstance(self.cases, StoredRecords) else None

    def __getitem__(self, case_id: str) -> str:
        return self.cases[case_id].context

    def __contains__(self, case_id: object) -> bool:
        return case_id in self.cases

    def __iter__(self) -> Iterator[str]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)


class StoredCases(StoredRecords[Case]):
    """The cases of a file by id."""

    model, key = Case, "case_id"


class _PairsById(StoredRecords[ReasoningPair]):
    model, key = ReasoningPair, "pair_id"


class StoredPairs(LazySequence[str, ReasoningPair]):
    """The pairs of a file in its order, on disk. `keys` are their ids. `domains` may be filled as `id_offsets` are
    read; without them, the domains are those of the pairs."""

    def __init__(self, path: Path, id_offsets: Iterable[tuple[str, int]], domains: Sequence[str] = ()) -> None:
        self.domains = domains
        self.records = _PairsById(path, id_offsets)
        offsets = self.records.offsets
        super().__init__(LazySequence(range(len(offsets)), offsets.id_at), self.records.__getitem__)


def load_pairs(folder: Path) -> PairSet:
    """Reads both files of a folder into memory.

    Raises:
        JudgeError: The folder holds other data, an id repeats, or a pair has no case or another reference or domain
        than its case.
    """
    cases = {case.case_id: case for case in read_jsonl(cases_file(folder), Case, unique="case_id")}
    return PairSet(cases, [pair for _, pair, _ in stored_pairs(folder, cases)])


def open_pairs(folder: Path, *, checked: bool = False) -> PairSet:
    """The pairs and cases of a folder, which stay on disk: memory holds the ids and the offsets of their lines.

    All records are checked as by `load_pairs`. Pass `checked` in worker processes of a run that has done so: then only
    the ids are read now, and each record is validated when it is used.
    """
    if checked:
        cases = StoredCases(folder / CASES_FILE, ids_with_offsets(folder / CASES_FILE, "case_id"))
        return PairSet(cases, StoredPairs(folder / PAIRS_FILE, ids_with_offsets(folder / PAIRS_FILE, "pair_id")))
    cases = open_cases(folder)
    domains = list[str]()

    def id_offsets() -> Iterator[tuple[str, int]]:
        for offset, pair, _ in stored_pairs(folder, cases):
            domains.append(intern(pair.domain))
            yield pair.pair_id, offset

    return PairSet(cases, StoredPairs(folder / PAIRS_FILE, id_offsets(), domains))


@lru_cache(maxsize=8)
def opened_pairs(folder: Path) -> PairSet:
    """The pairs of a folder that was checked before. A worker process opens it once."""
    return open_pairs(folder, checked=True)


def open_cases(folder: Path) -> StoredCases:
    """The cases of a folder, which stay on disk. All of them are validated now."""
    path = cases_file(folder)
    return StoredCases(
        path, ((case.case_id, offset) for offset, case in read_with_offsets(path, Case, unique="case_id"))
    )


def cases_file(folder: Path) -> Path:
    """The file of cases. Raises: JudgeError where the folder holds another type of data set."""
    path = folder / CASES_FILE
    if folder.is_file():
        raise JudgeError(f"{folder} is a file: give the folder that holds it, {folder.parent}")
    known = path.exists() or (folder / PAIRS_FILE).exists()
    if not known and (others := sorted(file.name for file in folder.glob("*.jsonl"))):
        raise JudgeError(
            f"{folder} holds {', '.join(others)} and no {CASES_FILE}: give a folder of cases and pairs of reasonings "
            f"(`judge-r1 validate` and `export` read every type of data set){name_below(folder, CASES_FILE)}"
        )
    if not known and not name_below(folder, CASES_FILE):
        raise JudgeError(f"{lacks(folder, CASES_FILE)}: give a folder that `judge-r1 build` or `judge-r1 split` wrote")
    return path


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
