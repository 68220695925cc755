"""P4, groundedness: a citation states what another case of the corpus states, and this one does not."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from functools import partial
from random import Random

from data_builders.perturb.rules.citations import Fact, cited, with_citations
from data_builders.perturb.rules.operators import Edit, Operator, Step
from data_builders.perturb.rules.steps import split_steps
from data_builders.perturb.rules.text_match import content_words, sentence_index, vocabulary
from judge_r1.core.records import Case

DRAWN, MIN_NEW, MAX_SHARED, LENGTHS = 200, 3, 0.5, (0.6, 1.6)
"""Facts drawn per edit, the words that the case must not have, the share of its words that one sentence of the case may
have, and its length relative to the citation that it replaces."""
RELATED = 5
"""One of so many facts is taken, those most related to the reference."""

_IDENTITY = re.compile(
    r"\b(?:years?[ -]old|aged|m[ae]n|wom[ae]n|male|female|boy|girl|born|lives?|gender|sex)\b", re.IGNORECASE
)
"""What every case says of its people."""


class ForeignFacts:
    """The facts that the references of many cases cite, by domain: each is true in its own case."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._facts: defaultdict[str, list[tuple[str, Fact]]] = defaultdict(list)
        for case in cases:
            steps = with_citations(case, split_steps(case.reference))
            found = [citation.fact for step in steps for citation in step.citations]
            self._facts[case.domain] += [(case.context, fact) for fact in found if not _IDENTITY.search(fact.text)]

    def draw(self, case: Case, fact: Fact, rng: Random) -> Fact | None:
        """Draw a fact in place of one of a case: not stated there, and about things of which the case says nothing."""
        pool = self._facts[case.domain]
        named = set(content_words(case.reference))
        fits = [
            other
            for context, other in rng.sample(pool, min(DRAWN, len(pool)))
            if context != case.context
            and LENGTHS[0] < len(other.text) / len(fact.text) < LENGTHS[1]
            and is_unstated(case, other)
        ]
        fits.sort(key=lambda other: -_share(content_words(other.text), named))
        return rng.choice(fits[:RELATED]) if fits else None

    @property
    def operators(self) -> list[Operator]:
        return [Operator("foreign_fact", 4, partial(_cite_foreign_fact, self))]


def is_unstated(case: Case, fact: Fact) -> bool:
    """Whether the case says nothing on the matter of a fact, so that it neither supports nor contradicts it."""
    words = set(content_words(fact.text))
    known = vocabulary(f"{case.context}\n\n{case.reference}")
    if sum(word not in known for word in words) < MIN_NEW:
        return False
    return all(len(words & sentence.stems) <= MAX_SHARED * len(words) for sentence in sentence_index(case.context))


def _cite_foreign_fact(pool: ForeignFacts, case: Case, step: Step, rng: Random) -> Edit | None:
    found = [citation for citation in step.citations if not _IDENTITY.search(citation.fact.text)]
    if not found:
        return None
    replaced = rng.choice(found)
    fact = pool.draw(case, replaced.fact, rng)
    return None if fact is None else step.edit(replaced.whole, cited(fact, case.domain, rng))


def _share(words: Sequence[str], known: Set[str]) -> float:
    return sum(word in known for word in words) / len(words)
