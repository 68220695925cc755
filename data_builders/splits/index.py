"""An index of pairs for splitting: ids, labels and byte offsets, without texts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, tee
from pathlib import Path
from types import MappingProxyType

from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.verdicts import Preference
from judge_r1.files.jsonl import AtomicFiles, lines_at, read_with_offsets
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE, StoredCases, cases_file, stored_pairs

SETS = (*(p.code for p in PRINCIPLES), "multi")
"""The seven sets of a domain: single pairs by principle, and pairs that violate several."""


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """A case. Cases of one `group` stay on one side of a split. `offset` is the byte where its line begins."""

    case_id: str
    domain: str
    group: str
    folder: int
    offset: int


@dataclass(frozen=True, slots=True)
class PairEntry:
    """A pair. `set` is the index of its set in SETS."""

    pair_id: str
    case: CaseEntry
    violated: tuple[int, ...]
    preferred: Preference
    folder: int
    offset: int

    @property
    def set(self) -> int:
        return self.violated[0] - 1 if len(self.violated) == 1 else len(PRINCIPLES)


@dataclass(frozen=True)
class PairIndex:
    """The cases and pairs of several folders, in order. Repeated ones are taken from the first folder and counted in
    `repeated`."""

    folders: tuple[Path, ...]
    cases: Mapping[str, CaseEntry]
    pairs: Sequence[PairEntry]
    repeated: Counter[str]

    @property
    def domains(self) -> list[str]:
        return sorted({pair.case.domain for pair in self.pairs})

    def stored(self) -> Iterator[tuple[CaseEntry, Case]]:
        """Iterates over the cases with their texts."""
        for folder, entries in groupby(self.cases.values(), key=lambda entry: entry.folder):
            cases = list(entries)
            lines = lines_at(self.folders[folder] / CASES_FILE, (entry.offset for entry in cases))
            for entry, line in zip(cases, lines, strict=True):
                yield entry, Case.model_validate_json(line)


def read_index(
    folders: Sequence[Path], keep: Callable[[ReasoningPair, Case], bool] = lambda pair, case: True
) -> PairIndex:
    """Read and check folders as `judge-r1 build` writes them. `keep` is called once for every pair with its case.

    Raises: JudgeError for a folder given twice, or a case that differs between two folders.
    """
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise JudgeError("the same folder is given twice")
    cases: dict[str, CaseEntry] = {}
    pairs: dict[str, PairEntry] = {}
    left_out: set[str] = set()
    violations: dict[tuple[int, ...], tuple[int, ...]] = {}  # one shared tuple per set of principles
    repeated: Counter[str] = Counter()
    opened: list[StoredCases] = []
    for number, folder in enumerate(folders):
        offsets: dict[str, int] = {}
        for offset, case in read_with_offsets(cases_file(folder), Case, unique="case_id"):
            offsets[case.case_id] = offset
            if (known := cases.get(case.case_id)) is None:
                cases[case.case_id] = CaseEntry(case.case_id, case.domain, case.group, number, offset)
            else:
                repeated["cases"] += 1
                if opened[known.folder][case.case_id] != case:
                    raise JudgeError(
                        f"{folders[known.folder]} and {folder} both hold case {case.case_id}, with another source, "
                        "license or meta: build both folders with the same options"
                    )
        stored = StoredCases(folder / CASES_FILE, offsets.items())
        opened.append(stored)
        for offset, pair, case in stored_pairs(folder, stored):
            if pair.pair_id in pairs or pair.pair_id in left_out:
                repeated["pairs"] += 1
            elif keep(pair, case):
                violated = violations.setdefault(pair.violated, pair.violated)
                pairs[pair.pair_id] = PairEntry(
                    pair.pair_id, cases[pair.case_id], violated, pair.preferred, number, offset
                )
            else:
                left_out.add(pair.pair_id)
    return PairIndex(tuple(folders), cases, list(pairs.values()), repeated)


@dataclass(frozen=True)
class Part:
    """One part of a split: ids of cases and pairs, and the numbers of pairs requested per set and in total, if any."""

    cases: frozenset[str]
    pairs: frozenset[str]
    wanted: int | None = None
    nominal: int | None = None

    @classmethod
    def of(cls, pairs: Iterable[PairEntry], wanted: int | None = None, nominal: int | None = None) -> "Part":
        chosen = list(pairs)
        cases, ids = frozenset(pair.case.case_id for pair in chosen), frozenset(pair.pair_id for pair in chosen)
        return cls(cases, ids, wanted, nominal)


def write_parts(
    index: PairIndex, parts: Mapping[str, Part], out: Path, reports: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Write each part as the folder OUT/NAME, with the original lines in their order, and the reports by file name. All
    files appear together."""
    paths = {name: (out / name / CASES_FILE, out / name / PAIRS_FILE) for name in parts}
    with AtomicFiles(*chain(*paths.values()), *(out / name for name in reports)) as out_files:
        for name, text in reports.items():
            out_files.write(out / name, text)
        for number, folder in enumerate(index.folders):
            for at, file in enumerate((CASES_FILE, PAIRS_FILE)):
                # Offsets to read and names to write, in step: tee keeps one line of them in memory.
                wanted, again = tee(_wanted(index, parts, number, file))
                for line, (_, names) in zip(
                    lines_at(folder / file, (offset for offset, _ in wanted)), again, strict=True
                ):
                    for name in names:
                        out_files.write(paths[name][at], line)


def _wanted(index: PairIndex, parts: Mapping[str, Part], folder: int, file: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of a folder's file that are in a part: the offset of the line and the names of the parts."""
    if file == CASES_FILE:
        for case in index.cases.values():
            if case.folder == folder and (names := [n for n, part in parts.items() if case.case_id in part.cases]):
                yield case.offset, names
    else:
        for pair in index.pairs:
            if pair.folder == folder and (names := [n for n, part in parts.items() if pair.pair_id in part.pairs]):
                yield pair.offset, names
