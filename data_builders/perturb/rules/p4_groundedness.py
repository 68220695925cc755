"""P4, groundedness: a citation states what another case of the corpus states, and this one does not."""

import re
from collections.abc import Set
from functools import lru_cache, partial
from random import Random

from data_builders.perturb.rules.citations import cited
from data_builders.perturb.rules.corpus_facts import CorpusFacts
from data_builders.perturb.rules.facts import Fact
from data_builders.perturb.rules.operators import Edit, Operator, Step
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
_DENIAL = re.compile(r"\b(?:no|not|nor|never|without|none|normal|negative|absen\w+|unremarkable)\b", re.IGNORECASE)
_NAMED = re.compile(r"(?<=[^.] )[A-Z][\w’'-]*|\b(?:he|she|his|her|him|hers|they|their|them)\b")
"""Names and pronouns: a case must have those of a fact that it gets."""


class ForeignFacts:
    """Draws citable facts of a corpus for cases that do not state them."""

    def __init__(self, corpus: CorpusFacts) -> None:
        self.corpus = corpus
        self._last: tuple[str, list[Fact]] = "", []

    def draw(self, case: Case, replaced: Fact, start: int, rng: Random) -> Fact | None:
        """Draw a fact in place of one at `start` of the reference. It is not stated in the case, nor is its matter.

        It shares rare words with the case and with the text around it, as a fact of the case would. It denies
        something if the replaced fact does, and has a number if that has one.
        """
        end = start + len(replaced.text)
        around = case.reference[max(0, start - AROUND) : start] + case.reference[end : end + AROUND]
        near, known = set(words(around)), _words_of(case.context, case.reference)
        fits = [
            other
            for other in self._unstated(case)
            if LENGTHS[0] < len(other.text) / len(replaced.text) < LENGTHS[1]
            and _kind(other) == _kind(replaced)
            and rng.random() < DRAWN
        ]
        fits.sort(key=lambda other: -self._share(case, other, known) - self._share(case, other, near))
        return rng.choice(fits[:RELATED]) if fits else None

    def _share(self, case: Case, fact: Fact, known: Set[str]) -> float:
        """The share of the words of a fact that are known as they are written, weighted by how rare they are."""
        weights = {word: self.corpus.rarity(case.domain, stem(word)) for word in words(fact.text)}
        return sum(weights[word] for word in weights if word in known) / (sum(weights.values()) or 1.0)

    def _unstated(self, case: Case) -> list[Fact]:
        """Return the facts that a case does not state. Those of the last case are kept, as P4 draws many from it."""
        if self._last[0] != case.case_id:
            citable = (fact for fact in self.corpus.of_domain(case.domain) if not _IDENTITY.search(fact.text))
            self._last = case.case_id, [fact for fact in citable if is_unstated(case, fact)]
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
    fact = pool.draw(case, replaced.fact, step.start + replaced.start, rng)
    return None if fact is None else step.edit(replaced.whole, cited(fact, case.domain, rng))


@lru_cache(maxsize=1 << 14)
def _kind(fact: Fact) -> tuple[bool, bool]:
    """Whether a fact denies something, and whether it has a number."""
    return _DENIAL.search(fact.text) is not None, any(map(str.isdigit, fact.text))


@lru_cache(maxsize=1 << 14)
def _stems(fact: Fact) -> tuple[str, ...]:
    return tuple(content_words(fact.text))


@lru_cache(maxsize=8)
def _words_of(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in words(text))
