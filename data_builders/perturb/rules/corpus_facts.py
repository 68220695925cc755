"""The facts of generated cases that references cite, and the details that P4 takes from other cases.

References cite details, and of the other facts of a case those whose rarest word is the most common in the corpus.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, log

from data_builders.perturb.rules.facts import Fact, facts
from data_builders.perturb.rules.text_match import content_words
from data_builders.sources import DetailKind
from judge_r1.core.records import Case

CITED_SHARE, MIN_CITED = 0.5, 12
"""The share of the facts of a case that its reference may cite, and their least number."""


class CorpusFacts:
    """The facts of many generated cases that can be cited, by domain: each is true in its own case.

    `detail_kind` knows their details.
    """

    def __init__(self, cases: Iterable[Case], detail_kind: DetailKind) -> None:
        self._detail_kind = detail_kind
        contexts: defaultdict[str, list[str]] = defaultdict(list)
        for case in cases:
            contexts[case.domain].append(case.context)
        self._sizes = {domain: len(texts) for domain, texts in contexts.items()}
        self._counts = {
            domain: Counter(stem for text in texts for stem in set(content_words(text)))
            for domain, texts in contexts.items()
        }
        self._rarity: dict[tuple[str, str], float] = {}
        self._details: dict[str, dict[int, list[Fact]]] = {}
        self._facts = {
            domain: list({fact.text: fact for text in texts for fact in self._citable(domain, text)}.values())
            for domain, texts in contexts.items()
        }

    def of_domain(self, domain: str) -> Sequence[Fact]:
        """Return the citable facts of all cases of a domain, each text once."""
        return self._facts.get(domain, ())

    def details(self, domain: str) -> Mapping[int, Sequence[Fact]]:
        """Return the details of all cases of a domain, by kind."""
        if domain not in self._details:
            found = self._details[domain] = {}
            for fact in self.of_domain(domain):
                if (kind := self._kind(domain, fact)) is not None:
                    found.setdefault(kind, []).append(fact)
        return self._details[domain]

    def of_case(self, case: Case) -> Sequence[Fact]:
        """Return the citable facts of a case."""
        return self._citable(case.domain, case.context)

    def kinds_of_case(self, case: Case) -> frozenset[int]:
        """Return the kinds of the details of a generated case."""
        kinds = (self._kind(case.domain, fact) for fact in self.of_case(case))
        return frozenset(kind for kind in kinds if kind is not None)

    def is_detail(self, domain: str, fact: Fact) -> bool:
        """Whether a fact is a detail of a generated case."""
        return self._kind(domain, fact) is not None

    def rarity(self, domain: str, stem: str) -> float:
        """Return how rare a stem is: the log of the inverse share of the cases that have it."""
        found = self._rarity.get((domain, stem))
        if found is None:
            found = log((1 + self._sizes.get(domain, 0)) / (1 + self._count(domain, stem)))
            self._rarity[domain, stem] = found
        return found

    def _kind(self, domain: str, fact: Fact) -> int | None:
        return self._detail_kind(domain, fact.text)

    def _count(self, domain: str, stem: str) -> int:
        """The number of cases of a domain that have a stem."""
        return self._counts[domain][stem] if domain in self._counts else 0

    def _citable(self, domain: str, context: str) -> list[Fact]:
        found, counts = facts(context), self._counts.get(domain, Counter())

        def rarest(fact: Fact) -> int:
            return min((counts[stem] for stem in content_words(fact.text) if not stem[0].isdigit()), default=0)

        common = sorted(found, key=rarest, reverse=True)
        first = max(ceil(CITED_SHARE * len(found)), MIN_CITED)
        return common[:first] + [fact for fact in common[first:] if self.is_detail(domain, fact)]
