"""Finds near-duplicate cases: MinHash proposes candidates, and exact Jaccard indices of word shingles decide.

With signatures of 128 bands of 3 minima (Broder), a pair of texts with Jaccard index J becomes a candidate with
probability 1 - (1 - J³)^128, which is .9998 at J = 0.4.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from data_builders.splits.index import CaseEntry, PairIndex
from judge_r1.core.jsonl import lines_at
from judge_r1.core.pair_set import CASES_FILE
from judge_r1.core.records import Case
from retrieval.words import has_unspaced, terms

WORDS = 8
BANDS, ROWS = 128, 3
MARGIN = 0.1
"""Four standard deviations of the estimated Jaccard index at 0.4."""
THRESHOLD = 0.4
"""The Jaccard index of near duplicates. Editing one word in nineteen lowers that of two copies to about 0.4."""

Shingles = NDArray[np.uint64]
Signature = NDArray[np.uint32]
Likeness = tuple[int, int, float]
"""(number of a text, number of a later one, Jaccard index)."""

_RANDOM = Random(0)
_FACTORS = np.array([_RANDOM.getrandbits(64) | 1 for _ in range(BANDS * ROWS)], dtype=np.uint64)
_OFFSETS = np.array([_RANDOM.getrandbits(64) for _ in range(BANDS * ROWS)], dtype=np.uint64)


def shingles(text: str) -> Shingles:
    """The distinct runs of WORDS words of a text as sorted 64-bit hashes. A shorter text is one run. In scripts without
    spaces, the terms of a search take the place of words."""
    found = terms(text) if has_unspaced(text) else re.findall(r"\w+", text.casefold())
    words = [_word(word) for word in found]
    if not words:
        return np.zeros(0, dtype=np.uint64)
    hashes = np.array(words, dtype=np.uint64)
    size = min(WORDS, len(words))
    runs = np.zeros(len(words) - size + 1, dtype=np.uint64)
    for at in range(size):
        runs = runs * np.uint64(0x9E3779B97F4A7C15) + hashes[at : at + len(runs)]
    return np.unique(_mixed(runs))


def jaccard(one: Shingles, other: Shingles) -> float:
    """The Jaccard index of two sets; 0 if a text has no words."""
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / max(1, len(one) + len(other) - shared)


def signature(found: Shingles) -> Signature:
    """The minimum of each of BANDS x ROWS random functions over the set."""
    if not len(found):
        return np.full(BANDS * ROWS, np.iinfo(np.uint32).max, dtype=np.uint32)
    minima = [
        ((found * factor + offset) >> np.uint64(32)).min() for factor, offset in zip(_FACTORS, _OFFSETS, strict=True)
    ]
    return np.array(minima, dtype=np.uint32)


def near_duplicates(
    texts: Iterable[str], reread: Callable[[int], str], *, threshold: float = THRESHOLD
) -> list[Likeness]:
    """The pairs of texts whose Jaccard index is at least `threshold`, in order. `texts` is read once; `reread` returns
    a text by its number.

    Texts with equal signatures are paired with the first of them only.
    """
    signed: list[Signature] = []
    wordless: set[int] = set()
    for number, text in enumerate(texts):
        found = shingles(text)
        signed.append(signature(found))
        if not len(found):
            wordless.add(number)
    if len(signed) < 2:
        return []
    measured = lru_cache(256)(lambda number: shingles(reread(number)))
    pairs = sorted(set(_candidates(np.stack(signed), threshold)))
    likely = ((i, j, jaccard(measured(i), measured(j))) for i, j in pairs if not {i, j} & wordless)
    return [(i, j, likeness) for i, j, likeness in likely if likeness >= threshold]


def components(count: int, edges: Iterable[Likeness]) -> list[int]:
    """For each of `count` texts, the lowest number in its connected component."""
    ends = np.array([(i, j) for i, j, _ in edges], dtype=int).reshape(-1, 2)
    graph = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    _, firsts, labels = np.unique(
        connected_components(graph, directed=False)[1], return_index=True, return_inverse=True
    )
    return [int(firsts[label]) for label in labels]


def _candidates(signed: NDArray[np.uint32], threshold: float) -> Iterator[tuple[int, int]]:
    """Pairs (i, j), i < j, that share a band and have similar signatures."""
    _, firsts, which = np.unique(signed, axis=0, return_index=True, return_inverse=True)
    firsts = firsts.astype(int)
    for number, group in enumerate(which.ravel()):
        if firsts[group] != number:
            yield int(firsts[group]), number
    kinds = np.sort(firsts)
    distinct = signed[kinds]
    for band in range(0, BANDS * ROWS, ROWS):
        for members in _buckets(distinct[:, band : band + ROWS]):
            for at, one in enumerate(members[:-1]):
                others = np.array(members[at + 1 :])
                estimates = (distinct[others] == distinct[one]).mean(axis=1)
                yield from ((int(kinds[one]), int(kinds[other])) for other in others[estimates >= threshold - MARGIN])


def _buckets(columns: NDArray[np.uint32]) -> Iterator[Sequence[int]]:
    """The rows that are equal, where there are several."""
    equal: dict[bytes, list[int]] = defaultdict(list)
    for number, row in enumerate(columns):
        equal[row.tobytes()].append(number)
    return (members for members in equal.values() if len(members) > 1)


@lru_cache(1 << 16)
def _word(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _mixed(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The splitmix64 finaliser: without it, the order of the hashes would follow that of the words."""
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(31))


TEXTS: Mapping[str, Callable[[Case], str]] = {
    "context": lambda case: case.context,
    "reasoning": lambda case: case.reference,
}
"""The texts that are compared. Flawed reasonings differ from their case's reference in one or two steps, so comparing
the references covers them."""


class NearDuplicates:
    """The near-duplicate cases of a index. `found` maps a kind of text to (case, later case, Jaccard index)."""

    def __init__(self, index: PairIndex) -> None:
        self.cases: Sequence[CaseEntry] = list(index.cases.values())
        self._index = index
        self.found = {name: self._compare(text) for name, text in TEXTS.items()}

    def _compare(self, text: Callable[[Case], str]) -> list[Likeness]:
        def reread(number: int) -> str:
            entry = self.cases[number]
            (line,) = lines_at(self._index.folders[entry.folder] / CASES_FILE, [entry.offset])
            return text(Case.model_validate_json(line))

        return near_duplicates((text(case) for _, case in self._index.stored()), reread, threshold=THRESHOLD)

    def groups(self, *, joined: bool) -> dict[str, str]:
        """The group of every case. With `joined`, cases connected by near duplicates share the group of the first."""
        first: dict[str, int] = {}
        edges: list[Likeness] = [
            (first.setdefault(case.group, number), number, 1.0) for number, case in enumerate(self.cases)
        ]
        if joined:
            edges += [edge for found in self.found.values() for edge in found]
        roots = components(len(self.cases), edges)
        return {case.case_id: self.cases[root].group for case, root in zip(self.cases, roots, strict=True)}

    def crossing(self, sides: Mapping[str, Collection[str]]) -> list[dict[str, Any]]:
        """The near duplicates on several `sides`, which are sets of case ids."""
        edges = [edge for found in self.found.values() for edge in found]
        roots = components(len(self.cases), edges)
        seen: dict[int, set[str]] = {}
        for case, root in zip(self.cases, roots, strict=True):
            seen.setdefault(root, set()).update(name for name, ids in sides.items() if case.case_id in ids)
        split = {root for root, names in seen.items() if len(names) > 1}
        return [row for row, (i, _) in zip(self.rows(sides), self._pairs(), strict=True) if roots[i] in split]

    def rows(self, sides: Mapping[str, Collection[str]]) -> list[dict[str, Any]]:
        """Every pair of near duplicates, with Jaccard indices (null below the threshold) and the side of each case."""
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
