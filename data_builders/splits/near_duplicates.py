"""Texts that are nearly alike: MinHash finds candidates, their shingles decide.

A text is the set of its runs of eight words (case and punctuation aside); how alike two texts are is the Jaccard index
of their sets. Signatures of 64 bands of 3 minima (Broder) make a candidate of a pair with Jaccard index J with
probability 1 - (1 - J³)^64: .9998 at one half. Every candidate is then measured exactly. A signature has 768 bytes,
however long its text is.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from random import Random

import numpy as np
from numpy.typing import NDArray

WORDS = 8
BANDS, ROWS = 64, 3
MARGIN = 0.14
"""Four standard deviations of the Jaccard index that a signature estimates, at one half."""

Shingles = NDArray[np.uint64]
Signature = NDArray[np.uint32]
Likeness = tuple[int, int, float]
"""(number of a text, number of a later one, Jaccard index)."""

_RANDOM = Random(0)
_FACTORS = np.array([_RANDOM.getrandbits(64) | 1 for _ in range(BANDS * ROWS)], dtype=np.uint64)
_OFFSETS = np.array([_RANDOM.getrandbits(64) for _ in range(BANDS * ROWS)], dtype=np.uint64)


def shingles(text: str) -> Shingles:
    """The distinct runs of WORDS words of a text as sorted 64-bit hashes; a shorter text is one run."""
    words = [_word(word) for word in re.findall(r"\w+", text.casefold())]
    if not words:
        return np.zeros(0, dtype=np.uint64)
    hashes = np.array(words, dtype=np.uint64)
    size = min(WORDS, len(words))
    runs = np.zeros(len(words) - size + 1, dtype=np.uint64)
    for at in range(size):
        runs = runs * np.uint64(0x9E3779B97F4A7C15) + hashes[at : at + len(runs)]
    return np.unique(_mixed(runs))


def jaccard(one: Shingles, other: Shingles) -> float:
    """Shared over all, 0 where a text has no words."""
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


def near_duplicates(texts: Iterable[str], reread: Callable[[int], str], *, threshold: float = 0.5) -> list[Likeness]:
    """The pairs of texts whose Jaccard index is at least `threshold`, in order. `texts` is read once and not kept;
    `reread` gives a text again by its number.

    Of texts whose signatures are equal, each is told with the first of them only.
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


def together(count: int, edges: Iterable[Likeness]) -> list[int]:
    """For each of `count` texts the lowest number that it is joined to, over any number of edges."""
    roots = list(range(count))

    def root(number: int) -> int:
        while roots[number] != number:
            roots[number] = roots[roots[number]]
            number = roots[number]
        return number

    for i, j, _ in edges:
        low, high = sorted((root(i), root(j)))
        roots[high] = low
    return [root(number) for number in range(count)]


def _candidates(signed: NDArray[np.uint32], threshold: float) -> Iterator[tuple[int, int]]:
    """Pairs (i, j), i < j, that share a band and whose signatures do not tell them apart."""
    _, firsts, which = np.unique(signed, axis=0, return_index=True, return_inverse=True)
    firsts = firsts.astype(int)
    for number, alike in enumerate(which.ravel()):
        if firsts[alike] != number:
            yield int(firsts[alike]), number
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
    """A finaliser (splitmix64): without it the order of the runs' hashes would follow that of their words."""
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(31))
