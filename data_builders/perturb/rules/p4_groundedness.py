"""P4, groundedness: a citation states what another case of the corpus states, and this one does not."""

from collections.abc import Iterator, Set
from dataclasses import replace
from functools import partial
from random import Random
from typing import NamedTuple

from data_builders.perturb.rules.adapted_facts import with_names_of_case, with_years_of_case
from data_builders.perturb.rules.citations import cited
from data_builders.perturb.rules.corpus_facts import CorpusFacts
from data_builders.perturb.rules.facts import Fact
from data_builders.perturb.rules.foreign_fit import IDENTITY, can_move, fits_case, is_unstated, words_of
from data_builders.perturb.rules.operators import Edit, Operator, Step, seeded_random
from data_builders.perturb.rules.text_match import stem, words
from judge_r1.core.records import Case

DRAWN, LENGTHS = 0.6, (0.6, 1.6)
"""The share of the facts that an edit considers, and their length relative to the citation that they replace."""
RELATED, AROUND = 10, 300
"""One of so many facts is taken, those most related to the case and to the text within `AROUND` characters."""
OF_A_KIND = 3
"""How many details of each kind of the corpus a case considers."""


class _Unstated(NamedTuple):
    """A fact that a case does not state, the share of its words that the case knows, and its kind."""

    fact: Fact
    share: float
    kind: int


class ForeignFacts:
    """Draws facts of a corpus for cases that do not state them."""

    def __init__(self, corpus: CorpusFacts) -> None:
        self.corpus = corpus
        self._last: tuple[str, list[_Unstated]] = "", []
        self._weights: dict[tuple[str, str], tuple[dict[str, float], float]] = {}

    def draw(self, case: Case, replaced: Fact, start: int, rng: Random) -> Fact | None:
        """Draw a fact in place of one at `start` of the reference. It is not stated in the case, nor is its matter.

        It shares rare words with the case and with the text around it, as a fact of the case would.
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
        """Return the facts that a case does not state, with names of the case. Those of the last case are kept, as P4
        draws many from it."""
        if self._last[0] != case.case_id:
            known = words_of(case.context, case.reference)
            facts = self._details(case) if self.corpus.has_details else self._movable(case)
            found = [_Unstated(fact, self._share(case, fact.text, known), kind) for kind, fact in facts]
            self._last = case.case_id, found
        return self._last[1]

    def _movable(self, case: Case) -> Iterator[tuple[int, Fact]]:
        """Yield sentences that the case could have: their new words are common among the cases most like it. Each is a
        kind of its own."""
        near = self.corpus.similar.words_near(case)
        for kind, fact in enumerate(self.corpus.of_domain(case.domain)):
            if can_move(fact.text) and is_unstated(case, fact.text, near):
                text = with_names_of_case(case, fact.text, seeded_random(case, 0, "names", fact.text))
                if text is not None and fits_case(case, text):
                    yield kind, replace(fact, text=text)

    def _details(self, case: Case) -> Iterator[tuple[int, Fact]]:
        """Yield details of kinds that the case lacks, some of each. Cases have details without regard to the rest, so
        each fits any case."""
        rng, own = seeded_random(case, 0, "details"), self.corpus.kinds_of_case(case)
        for kind, facts in self.corpus.details(case.domain).items():
            if kind in own:  # with other numbers it would contradict the case, which is P2
                continue
            for fact in rng.sample(facts, min(OF_A_KIND, len(facts))):
                if is_unstated(case, fact.text):
                    text = with_names_of_case(case, fact.text, rng)
                    if text is not None:
                        yield kind, replace(fact, text=text)

    @property
    def operators(self) -> list[Operator]:
        return [Operator("foreign_fact", 4, partial(_cite_foreign_fact, self))]


def _cite_foreign_fact(pool: ForeignFacts, case: Case, step: Step, rng: Random) -> Edit | None:
    corpus = pool.corpus
    found = [
        citation
        for citation in step.citations
        if not IDENTITY.search(citation.fact.text)
        and (not corpus.has_details or corpus.is_detail(case.domain, citation.fact))
    ]
    if not found:
        return None
    replaced = rng.choice(found)
    fact = pool.draw(case, replaced.fact, step.start + replaced.start, rng)
    return None if fact is None else step.edit(replaced.whole, cited(fact, case.domain, rng))
