"""Finds the cases of a corpus that are most like a case, by the words that they share."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import ceil, log, sqrt

from data_builders.perturb.rules.text_match import content_words
from judge_r1.core.records import Case

NEAREST, SHARE, COMMON = 15, 0.2, 0.08
"""How many cases are the nearest ones, the share of them that must have a word, and the share of all."""


class SimilarCases:
    """The stems of the contexts of a corpus, by domain, and the nearest cases of each case.

    The similarity is the cosine of the sets of stems, weighted by the log of the inverse share of cases that have them.
    """

    def __init__(self, contexts: Mapping[str, Sequence[str]]) -> None:
        self._cases = {domain: [_stems(text) for text in texts] for domain, texts in contexts.items()}
        self._having: dict[str, dict[str, list[int]]] = {}
        for domain, cases in self._cases.items():
            having = self._having[domain] = {}
            for number, stems in enumerate(cases):
                for stem in sorted(stems):
                    having.setdefault(stem, []).append(number)
        self._lengths = {
            domain: [sqrt(sum(self._weight(domain, stem) for stem in sorted(stems))) or 1.0 for stems in cases]
            for domain, cases in self._cases.items()
        }
        self._last: tuple[str, frozenset[str]] = "", frozenset()

    def words_near(self, case: Case) -> frozenset[str]:
        """Return the stems that enough of the nearest cases and of all have. Those of the last case are kept."""
        if self._last[0] != case.case_id:
            self._last = case.case_id, self._words_near(case)
        return self._last[1]

    def _words_near(self, case: Case) -> frozenset[str]:
        own, scores = _stems(case.context), defaultdict[int, float](float)
        having = self._having.get(case.domain, {})
        for stem in sorted(own & having.keys()):
            weight = self._weight(case.domain, stem)
            for number in having[stem]:
                scores[number] += weight
        cases, lengths = self._cases.get(case.domain, []), self._lengths.get(case.domain, [])
        others = [number for number in range(len(cases)) if cases[number] != own]
        nearest = sorted(others, key=lambda number: (-scores[number] / lengths[number], number))[:NEAREST]
        counts = Counter(stem for number in nearest for stem in cases[number])
        least, common = ceil(SHARE * len(nearest)), COMMON * len(cases)
        return frozenset(s for s, count in counts.items() if count >= least and len(having[s]) >= common)

    def _weight(self, domain: str, stem: str) -> float:
        return log((1 + len(self._cases[domain])) / len(self._having[domain][stem])) ** 2


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem for stem in content_words(text) if not stem[0].isdigit())
