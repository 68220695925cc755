"""P4, groundedness: a citation states what another case of the corpus states, and this one does not."""

import re
from collections import defaultdict
from collections.abc import Iterable, Set
from functools import lru_cache, partial
from random import Random

from data_builders.perturb.rules.citations import Fact, cited, with_citations
from data_builders.perturb.rules.operators import Edit, Interval, Operator, Step
from data_builders.perturb.rules.steps import split_steps
from data_builders.perturb.rules.text_match import content_words, sentence_index, vocabulary
from judge_r1.core.records import Case

DRAWN, MIN_NEW, MAX_SHARED, LENGTHS = 0.25, 3, 0.5, (0.6, 1.6)
"""The share of the facts that an edit considers, the words that the case must not have, the share of its words that one
sentence of the case may have, and its length relative to the citation that it replaces."""
RELATED, AROUND = 5, 300
"""One of so many facts is taken, those most related to the text within `AROUND` characters and to the reference."""

_IDENTITY = re.compile(
    r"\b(?:years?[ -]old|aged|m[ae]n|wom[ae]n|male|female|boy|girl|born|lives?|gender|sex)\b", re.IGNORECASE
)
"""What every case says of its people."""


class ForeignFacts:
    """The facts that the references of many cases cite, by domain: each is true in its own case."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._last: tuple[str, list[Fact]] = "", []
        self._facts: defaultdict[str, list[Fact]] = defaultdict(list)
        for case in cases:
            steps = with_citations(case, split_steps(case.reference))
            found = [citation.fact for step in steps for citation in step.citations]
            self._facts[case.domain] += [fact for fact in found if not _IDENTITY.search(fact.text)]

    def draw(self, case: Case, replaced: Interval, rng: Random) -> Fact | None:
        """Draw a fact in place of a part of the reference. It is not stated in the case, and neither is its matter.

        It shares words with the text around it, as a fact of the case would.
        """
        start, end = replaced
        around = case.reference[max(0, start - AROUND) : start] + case.reference[end : end + AROUND]
        near, known = set(content_words(around)), set(content_words(case.reference))
        fits = [
            other
            for other in self._unstated(case)
            if LENGTHS[0] < len(other.text) / (end - start) < LENGTHS[1] and rng.random() < DRAWN
        ]
        fits.sort(key=lambda other: -_share(other, near) - _share(other, known))
        return rng.choice(fits[:RELATED]) if fits else None

    def _unstated(self, case: Case) -> list[Fact]:
        """The facts that a case does not state: none of its own. Kept for the last case, from which many are drawn."""
        if self._last[0] != case.case_id:
            self._last = case.case_id, [f for f in self._facts[case.domain] if is_unstated(case, f)]
        return self._last[1]

    @property
    def operators(self) -> list[Operator]:
        return [Operator("foreign_fact", 4, partial(_cite_foreign_fact, self))]


def is_unstated(case: Case, fact: Fact) -> bool:
    """Whether a case seems to say nothing on the matter of a fact: a guess from shared words, no proof."""
    words = set(_words(fact))
    known = vocabulary(f"{case.context}\n\n{case.reference}")
    if sum(word not in known for word in words) < MIN_NEW:
        return False
    return all(len(words & sentence.stems) <= MAX_SHARED * len(words) for sentence in sentence_index(case.context))


def _cite_foreign_fact(pool: ForeignFacts, case: Case, step: Step, rng: Random) -> Edit | None:
    found = [citation for citation in step.citations if not _IDENTITY.search(citation.fact.text)]
    if not found:
        return None
    replaced = rng.choice(found)
    fact = pool.draw(case, (step.start + replaced.start, step.start + replaced.end), rng)
    return None if fact is None else step.edit(replaced.whole, cited(fact, case.domain, rng))


def _share(fact: Fact, known: Set[str]) -> float:
    words = _words(fact)
    return sum(word in known for word in words) / len(words)


@lru_cache(maxsize=1 << 14)
def _words(fact: Fact) -> tuple[str, ...]:
    return tuple(content_words(fact.text))
