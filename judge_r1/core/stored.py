"""A folder of cases and pairs that is read as it is needed: for what looks at every pair once and may be large."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import lines_at, located
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE, case_of
from judge_r1.core.records import Case, ReasoningPair

KEPT = 32
"""Cases held at a time; the pairs of a case stand together, so that few are read twice."""


class StoredCases(Mapping[str, Case]):
    """The cases of a file by id: `places` (the bytes at which their lines begin) in memory, texts on disk."""

    def __init__(self, path: Path, places: Mapping[str, int]) -> None:
        self.path, self.places = path, places
        self._read = lru_cache(KEPT)(self._from_disk)

    def __getitem__(self, case_id: str) -> Case:
        return self._read(self.places[case_id])

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def _from_disk(self, place: int) -> Case:
        (line,) = lines_at(self.path, [place])
        return Case.model_validate_json(line)


def stored_pairs(folder: Path, cases: Mapping[str, Case]) -> Iterator[tuple[int, ReasoningPair, Case]]:
    """Every pair of a folder with the byte at which its line begins and its case; checked as `load_pairs` does."""
    found = False
    for place, pair in located(folder / PAIRS_FILE, ReasoningPair, unique="pair_id"):
        found = True
        yield place, pair, case_of(pair, cases, folder)
    if not found:
        raise JudgeError(f"{folder / PAIRS_FILE} holds no pairs")


def open_cases(folder: Path) -> StoredCases:
    """The cases of a folder as `judge-r1 build` writes it; every one is checked now."""
    path = folder / CASES_FILE
    return StoredCases(path, {case.case_id: place for place, case in located(path, Case, unique="case_id")})
