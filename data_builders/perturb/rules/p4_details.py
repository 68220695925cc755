"""P4 in generated cases: a citation states a detail of another case, which this case does not have.

Generated cases have details without regard to the rest of the case, so each could be a detail of any case of its
domain.
"""

from collections.abc import Set
from dataclasses import replace
from functools import lru_cache, partial
from random import Random
from typing import NamedTuple

from data_builders.perturb.rules.adapted_facts import with_names_of_case, with_years_of_case
from data_builders.perturb.rules.citations import cited
from data_builders.perturb.rules.corpus_facts import CorpusFacts
from data_builders.perturb.rules.facts import Fact
from data_builders.perturb.rules.operators import Edit, Operator, Step, seeded_random
from data_builders.perturb.rules.text_match import content_words, sentence_index, stem, vocabulary, words
from judge_r1.core.records import Case

DRAWN, LENGTHS = 0.6, (0.6, 1.6)
"""The share of the details that an edit considers, and their length relative to the citation that they replace."""
RELATED, AROUND = 10, 300
"""One of so many details is taken, those most related to the case and to the text within `AROUND` characters."""
OF_A_KIND = 3
"""How many details of each kind a case considers."""
MIN_NEW, MAX_SHARED = 2, 0.5
"""The words that the case must not have, and the share of the words that one sentence of the case may have."""


class _Unstated(NamedTuple):
    """A detail that a case does not state, the share of its words that the case knows, and its kind."""

    fact: Fact
    share: float
    kind: int


class ForeignDetails:
    """Draws details of generated cases for cases that do not state them."""

    def __init__(self, corpus: CorpusFacts) -> None:
        self.corpus = corpus
        self._last: tuple[str, list[_Unstated]] = "", []
        self._weights: dict[tuple[str, str], tuple[dict[str, float], float]] = {}

    def draw(self, case: Case, replaced: Fact, start: int, rng: Random) -> Fact | None:
        """Draw a detail in place of one at `start` of the reference. It is not stated in the case, nor is its matter.

        It shares rare words with the case and with the text around it, as a detail of the case would.
        """
        end = start + len(replaced.text)
        around = case.reference[max(0, start - AROUND) : start] + case.reference[end : end + AROUND]
        near = set(words(around))
        drawn = {
            other.kind: other
            for other in self._unstated(case)
            if LENGTHS[0] < len(other.fact.text) / len(replaced.text) < LENGTHS[1] and rng.random() < DRAWN
        }
        fits = sorted(drawn.values(), key=lambda fit: -fit.share - self._share(case, fit.fact.text, near))
        if not fits:
            return None
        fact = rng.choice(fits[:RELATED]).fact
        text = with_years_of_case(case, fact.text, rng)
        return None if text is None else replace(fact, text=text)

    def _share(self, case: Case, text: str, known: Set[str]) -> float:
        """The share of the words of a text that are known as they are written, weighted by how rare they are."""
        found = self._weights.get((case.domain, text))
        if found is None:
            weights = {word: self.corpus.rarity(case.domain, stem(word)) for word in words(text)}
            found = self._weights[case.domain, text] = weights, sum(weights.values()) or 1.0
        weights, total = found
        return sum([weights[word] for word in weights if word in known]) / total

    def _unstated(self, case: Case) -> list[_Unstated]:
        """Return some details of each kind that a case lacks, with names of the case.

        A detail of a kind that the case has would contradict it, which is P2. Those of the last case are kept, as P4
        draws many from it.
        """
        if self._last[0] != case.case_id:
            known, rng, found = _words_of(case.context, case.reference), seeded_random(case, 0, "details"), []
            own = self.corpus.kinds_of_case(case)
            for kind, facts in self.corpus.details(case.domain).items():
                if kind in own:
                    continue
                for fact in rng.sample(facts, min(OF_A_KIND, len(facts))):
                    text = with_names_of_case(case, fact.text, rng) if _is_unstated(case, fact.text) else None
                    if text is not None:
                        found.append(_Unstated(replace(fact, text=text), self._share(case, text, known), kind))
            self._last = case.case_id, found
        return self._last[1]

    @property
    def operators(self) -> list[Operator]:
        return [Operator("foreign_fact", 4, partial(_cite_foreign_detail, self))]


def _is_unstated(case: Case, text: str) -> bool:
    """Whether a case seems to say nothing on the matter of a text: a guess from words."""
    detail, known = content_words(text), vocabulary(f"{case.context}\n\n{case.reference}")
    return sum(stem not in known for stem in detail) >= MIN_NEW and all(
        len(sentence.stems.intersection(detail)) <= MAX_SHARED * len(detail)
        for sentence in sentence_index(case.context)
    )


@lru_cache(maxsize=8)
def _words_of(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in words(text))


def _cite_foreign_detail(pool: ForeignDetails, case: Case, step: Step, rng: Random) -> Edit | None:
    found = [citation for citation in step.citations if pool.corpus.is_detail(case.domain, citation.fact)]
    if not found:
        return None
    replaced = rng.choice(found)
    fact = pool.draw(case, replaced.fact, step.start + replaced.start, rng)
    return None if fact is None else step.edit(replaced.whole, cited(fact, case.domain, rng))
