"""Cases that must not stand on two sides of a split: those of one group, and those whose texts are nearly alike."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from data_builders.splits.index import CaseEntry, Catalogue
from data_builders.splits.near_duplicates import Likeness, near_duplicates, together
from judge_r1.core.jsonl import lines_at
from judge_r1.core.pair_set import CASES_FILE
from judge_r1.core.records import Case

THRESHOLD = 0.5
"""Jaccard index of runs of eight words. Editing one word in sixteen brings two copies down to about one half."""

TEXTS: Mapping[str, Callable[[Case], str]] = {
    "context": lambda case: case.context,
    "reasoning": lambda case: case.reference,
}
"""What is compared. Flawed reasonings are copies of their case's reference but for a place or two, so that the
references stand for them."""


class Likenesses:
    """The nearly alike cases of a catalogue. `found` has, for each kind of text, (case, later case, Jaccard index)."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.cases: Sequence[CaseEntry] = list(catalogue.cases.values())
        self._catalogue = catalogue
        self.found = {name: self._compare(text) for name, text in TEXTS.items()}

    def _compare(self, text: Callable[[Case], str]) -> list[Likeness]:
        def reread(number: int) -> str:
            entry = self.cases[number]
            (line,) = lines_at(self._catalogue.folders[entry.folder] / CASES_FILE, [entry.place])
            return text(Case.model_validate_json(line))

        return near_duplicates((text(case) for _, case in self._catalogue.stored()), reread, threshold=THRESHOLD)

    def groups(self, *, joined: bool) -> dict[str, str]:
        """The group of every case: its own, or, where `joined`, that of the first case it is nearly alike with over any
        number of steps."""
        first: dict[str, int] = {}
        edges: list[Likeness] = [
            (first.setdefault(case.group, number), number, 1.0) for number, case in enumerate(self.cases)
        ]
        if joined:
            edges += [edge for found in self.found.values() for edge in found]
        roots = together(len(self.cases), edges)
        return {case.case_id: self.cases[root].group for case, root in zip(self.cases, roots, strict=True)}

    def crossing(self, sides: Mapping[str, Collection[str]]) -> list[dict[str, Any]]:
        """The nearly alike cases that stand on several `sides`, which are sets of case ids."""
        edges = [edge for found in self.found.values() for edge in found]
        roots = together(len(self.cases), edges)
        seen: dict[int, set[str]] = {}
        for case, root in zip(self.cases, roots, strict=True):
            seen.setdefault(root, set()).update(name for name, ids in sides.items() if case.case_id in ids)
        split = {root for root, names in seen.items() if len(names) > 1}
        return [row for row, (i, _) in zip(self.rows(sides), self._pairs(), strict=True) if roots[i] in split]

    def rows(self, sides: Mapping[str, Collection[str]]) -> list[dict[str, Any]]:
        """Every two nearly alike cases, how alike their texts are (null: below the threshold), where each stands."""
        values = {name: {(i, j): likeness for i, j, likeness in found} for name, found in self.found.items()}
        rows = []
        for i, j in self._pairs():
            one, other = self.cases[i], self.cases[j]
            rows.append(
                {
                    "cases": [one.case_id, other.case_id],
                    "groups": [one.group, other.group],
                    **{name: round(found[i, j], 3) if (i, j) in found else None for name, found in values.items()},
                    "sides": [
                        next((name for name, ids in sides.items() if c.case_id in ids), None) for c in (one, other)
                    ],
                }
            )
        return rows

    def _pairs(self) -> list[tuple[int, int]]:
        return sorted({(i, j) for found in self.found.values() for i, j, _ in found})
