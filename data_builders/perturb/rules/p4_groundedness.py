"""P4, groundedness: a citation states what another case of the corpus states, and this one does not."""

import re
from collections.abc import Set
from functools import lru_cache, partial
from random import Random

from data_builders.perturb.rules.citations import cited
from data_builders.perturb.rules.corpus_facts import CorpusFacts
from data_builders.perturb.rules.facts import Fact
from data_builders.perturb.rules.operators import Edit, Interval, Operator, Step
from data_builders.perturb.rules.text_match import content_words, sentence_index, stem, vocabulary, words
from judge_r1.core.records import Case

DRAWN, MIN_NEW, MAX_SHARED, LENGTHS = 0.6, 2, 0.5, (0.6, 1.6)
"""The share of the facts that an edit considers, the words that the case must not have, the share of its words that one
sentence of the case may have, and its length relative to the citation that it replaces."""
RELATED, AROUND = 6, 300
"""One of so many facts is taken, those most related to the case and to the text within `AROUND` characters."""

_IDENTITY = re.compile(
    r"\b(?:years?[ -]old|aged|m[ae]n|wom[ae]n|male|female|boy|girl|born|lives?|gender|sex)\b", re.IGNORECASE
)
"""What every case says of its people."""
_NAMED = re.compile(r"(?<=[^.] )[A-Z][\w’'-]*|\b(?:he|she|his|her|him|hers|they|their|them)\b")
"""Names and pronouns: a case must have those of a fact that it gets."""


class ForeignFacts:
    """Draws typical facts of a corpus for cases that do not state them."""

    def __init__(self, corpus: CorpusFacts) -> None:
        self.corpus = corpus
        self._last: tuple[str, list[Fact]] = "", []

    def draw(self, case: Case, replaced: Interval, rng: Random) -> Fact | None:
        """Draw a fact in place of a part of the reference. It is not stated in the case, and neither is its matter.

        It shares rare words with the case and with the text around it, as a fact of the case would.
        """
        start, end = replaced
        around = case.reference[max(0, start - AROUND) : start] + case.reference[end : end + AROUND]
        near, known = set(words(around)), _words_of(case.context, case.reference)
        fits = [
            other
            for other in self._unstated(case)
            if LENGTHS[0] < len(other.text) / (end - start) < LENGTHS[1] and rng.random() < DRAWN
        ]
        fits.sort(key=lambda other: -self._share(case, other, known) - self._share(case, other, near))
        return rng.choice(fits[:RELATED]) if fits else None

    def _share(self, case: Case, fact: Fact, known: Set[str]) -> float:
        """The share of the words of a fact that are known as they are written, weighted by how rare they are."""
        weights = {word: self.corpus.rarity(case.domain, stem(word)) for word in words(fact.text)}
        return sum(weights[word] for word in weights if word in known) / (sum(weights.values()) or 1.0)

    def _unstated(self, case: Case) -> list[Fact]:
        """The facts that a case does not state: none of its own. Kept for the last case, from which many are drawn."""
        if self._last[0] != case.case_id:
            typical = (fact for fact in self.corpus.typical(case.domain) if not _IDENTITY.search(fact.text))
            self._last = case.case_id, [fact for fact in typical if is_unstated(case, fact)]
        return self._last[1]

    @property
    def operators(self) -> list[Operator]:
        return [Operator("foreign_fact", 4, partial(_cite_foreign_fact, self))]


def is_unstated(case: Case, fact: Fact) -> bool:
    """Whether a case seems to say nothing on the matter of a fact, and knows whom it names: a guess from words."""
    stated, known = set(_stems(fact)), vocabulary(f"{case.context}\n\n{case.reference}")
    if sum(stem not in known for stem in stated) < MIN_NEW:
        return False
    if not set(words(" ".join(_NAMED.findall(fact.text)))) <= _words_of(case.context, case.reference):
        return False
    return all(len(stated & sentence.stems) <= MAX_SHARED * len(stated) for sentence in sentence_index(case.context))


def _cite_foreign_fact(pool: ForeignFacts, case: Case, step: Step, rng: Random) -> Edit | None:
    found = [citation for citation in step.citations if not _IDENTITY.search(citation.fact.text)]
    if not found:
        return None
    replaced = rng.choice(found)
    fact = pool.draw(case, (step.start + replaced.start, step.start + replaced.end), rng)
    return None if fact is None else step.edit(replaced.whole, cited(fact, case.domain, rng))


@lru_cache(maxsize=1 << 14)
def _stems(fact: Fact) -> tuple[str, ...]:
    return tuple(content_words(fact.text))


@lru_cache(maxsize=8)
def _words_of(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in words(text))
