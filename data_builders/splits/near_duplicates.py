"""Finds near-duplicate cases: the Jaccard indices of their sets of word shingles, by one sparse product."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components

from data_builders.splits.index import CaseEntry, PairIndex
from judge_r1.core.records import Case
from retrieval.words import has_unspaced, terms

WORDS = 8
THRESHOLD = 0.4
"""The Jaccard index of near duplicates. Editing one word in nineteen lowers that of two copies to about 0.4."""
_CHUNK = 256
"""Texts that are compared with all others at a time."""

Shingles = NDArray[np.uint64]
Likeness = tuple[int, int, float]
"""(number of a text, number of a later one, Jaccard index)."""


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
        # The products wrap around at 64 bits, which a hash may.
        runs = runs * np.uint64(0x9E3779B97F4A7C15) + hashes[at : at + len(runs)]
    return np.unique(_mixed(runs))


def near_duplicates(texts: Iterable[str], *, threshold: float = THRESHOLD) -> list[Likeness]:
    """The pairs of texts whose Jaccard index is at least `threshold`, in order.

    Texts with equal shingles are paired with the first of them only. A text without words has no duplicate.
    """
    first: dict[bytes, int] = {}
    found: list[Likeness] = []
    distinct: list[tuple[int, Shingles]] = []
    for number, text in enumerate(texts):
        own = shingles(text)
        if len(own) and (known := first.setdefault(own.tobytes(), number)) != number:
            found.append((known, number, 1.0))
        elif len(own):
            distinct.append((number, own))
    if len(distinct) < 2:
        return found
    numbers, sets = zip(*distinct, strict=True)
    sizes = np.array([len(own) for own in sets])
    values = np.concatenate(sets)
    values.sort()
    common = np.unique(values[1:][values[1:] == values[:-1]])  # few: most shingles are in one text alone
    del values
    columns = [_positions(common, own) for own in sets]
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.concatenate(columns)
    sparse = csr_matrix((np.ones(len(flat), dtype=np.int32), flat, ends), shape=(len(sets), len(common)))
    for start in range(0, len(sets), _CHUNK):
        shared = (sparse[start : start + _CHUNK] @ sparse[start:].T).tocoo()
        i, j = shared.row + start, shared.col + start
        likeness = shared.data / (sizes[i] + sizes[j] - shared.data)
        alike = (i < j) & (likeness >= threshold)
        found += [
            (numbers[a], numbers[b], float(c)) for a, b, c in zip(i[alike], j[alike], likeness[alike], strict=True)
        ]
    return sorted(found)


def _positions(values: Shingles, own: Shingles) -> NDArray[np.int64]:
    """The positions in `values` of those that are in `own`. Both are sorted."""
    ranks = values.searchsorted(own)
    inside = ranks < len(values)
    found: NDArray[np.int64] = ranks[inside][values[ranks[inside]] == own[inside]]
    return found


def components(count: int, edges: Iterable[Likeness]) -> list[int]:
    """For each of `count` texts, the lowest number in its connected component."""
    ends = np.array([(i, j) for i, j, _ in edges], dtype=int).reshape(-1, 2)
    graph = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    _, firsts, labels = np.unique(
        connected_components(graph, directed=False)[1], return_index=True, return_inverse=True
    )
    return [int(firsts[label]) for label in labels]


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
        self.found = {name: near_duplicates(text(case) for _, case in index.stored()) for name, text in TEXTS.items()}

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
