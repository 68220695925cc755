"""The facts of a corpus that are typical of it: they have no word that few of its cases have.

References cite typical facts of their case, and P4 exchanges them for typical facts of other cases. A fact with rare
words would look out of place in another case.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import ceil, log

from data_builders.perturb.rules.facts import Fact, facts
from data_builders.perturb.rules.text_match import content_words
from judge_r1.core.records import Case

TYPICAL_SHARE, MIN_TYPICAL = 0.25, 200
"""The share of the facts of a corpus that count as typical of it, and how many do at least."""
CITED_SHARE, MIN_CITED = 0.5, 2
"""The share of the facts of a case, the most typical ones, that its reference may cite, and how many it may cite at
least for each citation."""


class CorpusFacts:
    """The typical facts of many cases, by domain: each is true in its own case."""

    def __init__(self, cases: Iterable[Case]) -> None:
        contexts: defaultdict[str, list[str]] = defaultdict(list)
        for case in cases:
            contexts[case.domain].append(case.context)
        self._counts = {
            domain: Counter(word for text in texts for word in set(content_words(text)))
            for domain, texts in contexts.items()
        }
        self._sizes = {domain: len(texts) for domain, texts in contexts.items()}
        self._typical = {
            domain: self._most_typical(domain, [f for text in texts for f in facts(text)], TYPICAL_SHARE, MIN_TYPICAL)
            for domain, texts in contexts.items()
        }

    def typical(self, domain: str) -> Sequence[Fact]:
        """The typical facts of all cases of a domain."""
        return self._typical.get(domain, ())

    def rarity(self, domain: str, stem: str) -> float:
        """How rare a stem is: log of the inverse share of the cases that have it."""
        return log((1 + self._sizes.get(domain, 0)) / (1 + self._counts.get(domain, Counter())[stem]))

    def to_cite(self, case: Case, count: int) -> Sequence[Fact]:
        """The facts from which a reference takes `count` citations: the more typical ones of the case."""
        return self._most_typical(case.domain, facts(case.context), CITED_SHARE, MIN_CITED * count)

    def _most_typical(self, domain: str, found: Sequence[Fact], share: float, least: int) -> list[Fact]:
        """Return this share of the facts, or `least`: those whose rarest word most cases have. Numbers do not count."""
        counts = self._counts.get(domain, Counter())

        def rarest(fact: Fact) -> int:
            return min((counts[word] for word in content_words(fact.text) if not word.isdigit()), default=0)

        return sorted(found, key=rarest, reverse=True)[: max(ceil(share * len(found)), least)]
