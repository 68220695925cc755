"""A folder of cases and pairs, as `judge-r1 build` writes it, loaded and cross-checked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import read_jsonl
from judge_r1.core.records import Case, ReasoningPair

CASES_FILE, PAIRS_FILE = "cases.jsonl", "pairs.jsonl"


@dataclass(frozen=True)
class PairSet:
    """Pairs with the cases they belong to, by id."""

    cases: Mapping[str, Case]
    pairs: Sequence[ReasoningPair]

    @classmethod
    def of(cls, cases: Iterable[Case], pairs: Iterable[ReasoningPair]) -> "PairSet":
        return cls({case.case_id: case for case in cases}, list(pairs))

    @property
    def texts(self) -> dict[str, str]:
        """What a retriever may search: the context of each case."""
        return {case_id: case.context for case_id, case in self.cases.items()}

    def by_id(self) -> dict[str, ReasoningPair]:
        return {pair.pair_id: pair for pair in self.pairs}

    def case_of(self, pair: ReasoningPair) -> Case:
        return self.cases[pair.case_id]


def load_pairs(folder: Path) -> PairSet:
    """Both files of a folder; every id unique, every pair with its case, its case's reference and its domain."""
    cases = {case.case_id: case for case in read_jsonl(folder / CASES_FILE, Case, unique="case_id")}
    pairs = []
    for pair in read_jsonl(folder / PAIRS_FILE, ReasoningPair, unique="pair_id"):
        case_of(pair, cases, folder)
        pairs.append(pair)
    if not pairs:
        raise JudgeError(f"{folder / PAIRS_FILE} holds no pairs")
    return PairSet(cases, pairs)


def case_of(pair: ReasoningPair, cases: Mapping[str, Case], folder: Path) -> Case:
    """The case of a pair read from `folder`. Errors: JudgeError where it has none, or one it does not fit."""
    where = f"{folder / PAIRS_FILE}: pair {pair.pair_id}"
    if (case := cases.get(pair.case_id)) is None:
        raise JudgeError(f"{where} names case {pair.case_id}, which {CASES_FILE} does not hold: rebuild the folder")
    if pair.reference != case.reference:
        raise JudgeError(f"{where} prefers a reasoning that is not its case's reference: rebuild the folder")
    if pair.domain != case.domain:
        raise JudgeError(f"{where} has domain {pair.domain!r}, its case {case.domain!r}: rebuild the folder")
    return case
