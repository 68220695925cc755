"""Accuracy by length, each comparison counted as its set counts it.

The released script leaves the swapped rows of MA unturned, so that a judge that answers both orders alike scores one
half there whatever it says; here every answer is in terms of the outputs themselves.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from judge_r1.benchmarks.longjudgebench.aggregation import labels_by_order, scores_of
from judge_r1.benchmarks.longjudgebench.query import Query
from judge_r1.core.items import ItemResult

Count = Callable[[str], int]
BINS = ((0, 3_000), (3_000, 8_000), (8_000, 16_000), (16_000, None))
"""The release's, in cl100k tokens: from, and up to but not with."""
Judged = Sequence[tuple[Query, ItemResult]]


def comparisons(judged: Judged, count: Count = len) -> Iterator[tuple[float, bool]]:
    """(mean length of the outputs compared, is it right): each pair that the gold orders, or each verified answer, in
    each order it was judged. Queries without texts give none."""
    for query, outcome in judged:
        lengths = [count(text) for text in query.texts if text is not None]
        if len(lengths) < len(query.texts):
            continue
        if isinstance(query.gold, str):
            if query.gold != "tie":
                for label in labels_by_order(query.gold in ("Yes", "No"), outcome.votes).values():
                    yield sum(lengths) / len(lengths), label == query.gold
            continue
        scores = scores_of(outcome.votes, len(lengths))
        for one, other in combinations(outcome.gold["judged"], 2):
            margin, p, q = query.gold[one] - query.gold[other], scores[one], scores[other]
            if margin:
                yield (lengths[one] + lengths[other]) / 2, p is not None and q is not None and (p - q) * margin > 0


def quartiles(judged: Judged, count: Count = len) -> dict[str, float | None]:
    """Accuracy in four parts of as many comparisons, the shortest first; by characters, which order the texts of one
    set much as tokens do."""
    ordered = sorted(comparisons(judged, count), key=lambda pair: pair[0])
    cuts = [len(ordered) * part // 4 for part in range(5)]
    return {f"len_q{part + 1}": _share(ordered[cuts[part] : cuts[part + 1]]) for part in range(4)} if ordered else {}


def fixed_bins(judged: Judged, count: Count) -> dict[str, tuple[float | None, int]]:
    """(accuracy, comparisons) in the release's bins; `count` must count tokens as they were made for."""
    found = list(comparisons(judged, count))
    table = {}
    for low, high in BINS:
        part = [pair for pair in found if low <= pair[0] and (high is None or pair[0] < high)]
        table[f"{low}-{high}" if high else f"{low}-"] = (_share(part), len(part))
    return table


def _share(part: Sequence[tuple[float, bool]]) -> float | None:
    return sum(right for _, right in part) / len(part) if part else None
