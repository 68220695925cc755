"""What splitting needs to know of many pairs: ids, labels and places on disk, none of their texts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, tee
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import Writing, lines_at, located
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE, StoredCases, stored_pairs
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import Case, Preference, ReasoningPair

SETS = (*(p.code for p in PRINCIPLES), "multi")
"""The seven sets of a domain: single pairs of each principle, and the pairs that violate several."""


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """A case: `group` names what must stay on one side of a split, `place` is its line's byte in its folder's file."""

    case_id: str
    domain: str
    group: str
    folder: int
    place: int


@dataclass(frozen=True, slots=True)
class PairEntry:
    """A pair, as `CaseEntry`; `set` is the index of its set in SETS."""

    pair_id: str
    case: CaseEntry
    violated: tuple[int, ...]
    preferred: Preference
    folder: int
    place: int

    @property
    def set(self) -> int:
        return self.violated[0] - 1 if len(self.violated) == 1 else len(PRINCIPLES)


@dataclass(frozen=True)
class Catalogue:
    """The cases and pairs of some folders, in order. What stands in several folders is taken from the first;
    `repeated` counts the others."""

    folders: tuple[Path, ...]
    cases: Mapping[str, CaseEntry]
    pairs: Sequence[PairEntry]
    repeated: Counter[str]

    @property
    def domains(self) -> list[str]:
        return sorted({pair.case.domain for pair in self.pairs})

    def stored(self) -> Iterator[tuple[CaseEntry, Case]]:
        """Every case with its texts, one at a time."""
        for folder, entries in groupby(self.cases.values(), key=lambda entry: entry.folder):
            kept = list(entries)
            lines = lines_at(self.folders[folder] / CASES_FILE, (entry.place for entry in kept))
            for entry, line in zip(kept, lines, strict=True):
                yield entry, Case.model_validate_json(line)


def group_of(case: Case) -> str:
    """What must stay together in a split: `meta.group` (one article, one paper) within a domain, or the case alone."""
    return f"{case.domain}/{case.meta['group']}" if "group" in case.meta else case.case_id


def read_catalogue(
    folders: Sequence[Path], look: Callable[[ReasoningPair, Case], bool] = lambda pair, case: True
) -> Catalogue:
    """Read folders as `judge-r1 build` writes them, each record checked. `look` sees every pair with its case, once,
    and says whether it is kept.

    Errors: JudgeError for a folder given twice, and for two folders that tell different things about one case.
    """
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise JudgeError("the same folder is given twice")
    cases: dict[str, CaseEntry] = {}
    pairs: dict[str, PairEntry] = {}
    left_out: set[str] = set()
    violations: dict[tuple[int, ...], tuple[int, ...]] = {}  # one object for each set of principles
    repeated: Counter[str] = Counter()
    opened: list[StoredCases] = []
    for number, folder in enumerate(folders):
        places: dict[str, int] = {}
        for place, case in located(folder / CASES_FILE, Case, unique="case_id"):
            places[case.case_id] = place
            if (known := cases.get(case.case_id)) is None:
                cases[case.case_id] = CaseEntry(case.case_id, case.domain, group_of(case), number, place)
            else:
                repeated["cases"] += 1
                if opened[known.folder][case.case_id] != case:
                    raise JudgeError(
                        f"{folders[known.folder]} and {folder} both hold case {case.case_id}, with another source, "
                        "license or meta: build the two folders alike"
                    )
        stored = StoredCases(folder / CASES_FILE, places)
        opened.append(stored)
        for place, pair, case in stored_pairs(folder, stored):
            if pair.pair_id in pairs or pair.pair_id in left_out:
                repeated["pairs"] += 1
            elif look(pair, case):
                violated = violations.setdefault(pair.violated, pair.violated)
                pairs[pair.pair_id] = PairEntry(
                    pair.pair_id, cases[pair.case_id], violated, pair.preferred, number, place
                )
            else:
                left_out.add(pair.pair_id)
    return Catalogue(tuple(folders), cases, list(pairs.values()), repeated)


@dataclass(frozen=True)
class Part:
    """One part of a split: ids of cases and pairs, and how many pairs of each set it was to have, if that was said."""

    cases: frozenset[str]
    pairs: frozenset[str]
    wanted: int | None = None

    @classmethod
    def of(cls, pairs: Iterable[PairEntry], wanted: int | None = None) -> "Part":
        chosen = list(pairs)
        return cls(frozenset(pair.case.case_id for pair in chosen), frozenset(pair.pair_id for pair in chosen), wanted)


def write_parts(catalogue: Catalogue, parts: Mapping[str, Part], out: Path) -> None:
    """Each part as the folder OUT/NAME, its lines copied as they stand, in their order; all put in place together."""
    paths = {name: (out / name / CASES_FILE, out / name / PAIRS_FILE) for name in parts}
    with Writing(*(path for both in paths.values() for path in both)) as out_files:
        for number, folder in enumerate(catalogue.folders):
            for at, file in enumerate((CASES_FILE, PAIRS_FILE)):
                wanted, again = tee(_wanted(catalogue, parts, number, file))
                for line, (_, names) in zip(
                    lines_at(folder / file, (place for place, _ in wanted)), again, strict=True
                ):
                    for name in names:
                        out_files.write(paths[name][at], line)


def _wanted(catalogue: Catalogue, parts: Mapping[str, Part], folder: int, file: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of a folder's file that some part holds: where they begin, and who holds them."""
    if file == CASES_FILE:
        for case in catalogue.cases.values():
            if case.folder == folder and (names := [n for n, part in parts.items() if case.case_id in part.cases]):
                yield case.place, names
    else:
        for pair in catalogue.pairs:
            if pair.folder == folder and (names := [n for n, part in parts.items() if pair.pair_id in part.pairs]):
                yield pair.place, names
