"""P4, groundedness: a citation states what another case of the corpus states, and this one does not."""

import re
from collections.abc import Set
from dataclasses import replace
from functools import lru_cache, partial
from random import Random

from data_builders.perturb.rules.citations import cited
from data_builders.perturb.rules.corpus_facts import CorpusFacts
from data_builders.perturb.rules.facts import Fact
from data_builders.perturb.rules.operators import Edit, Operator, Step
from data_builders.perturb.rules.text_match import contains, content_words, sentence_index, stem, vocabulary, words
from judge_r1.core.records import Case

DRAWN, MIN_NEW, MAX_SHARED, LENGTHS = 0.6, 2, 0.5, (0.6, 1.6)
"""The share of the facts that an edit considers, the words that the case must not have, the share of its words that one
sentence of the case may have, and its length relative to the citation that it replaces."""
RELATED, AROUND = 10, 300
"""One of so many facts is taken, those most related to the case and to the text within `AROUND` characters."""
COMMON, KNOWN = 0.05, 0.45
"""Each word that the case does not have is in this share of the cases of its domain, and those that it has are this
share of all, weighted by how rare they are."""

_IDENTITY = re.compile(
    r"\b(?:years?[ -]old|aged|m[ae]n|wom[ae]n|male|female|boy|girl|born|lives?|gender|sex)\b", re.IGNORECASE
)
"""What every case says of its people."""
_UNFIT = re.compile(
    r"\b(?:histor\w+|diagnos\w+|sections?|articles?|act|code|laws?|convention"
    r"|is (?:an?|the|rare|extremely)|are|have been|cases|literature|patients|since then|overall"
    r"|according to|it was|shall|(?:next|following|same) (?:day|morning|week|months?|years?))\b",
    re.IGNORECASE,
)
"""What would not fit into another case: its past and outcome, the law of a country, general statements, and references
to other text."""
_PEOPLE = re.compile(
    r"\b(?:child\w*|infants?|neonat\w+|newborns?|bab(?:y|ies)|pregnan\w+|gestation\w*|f(?:o)?et\w+|matern\w+"
    r"|(?:grand)?(?:mother|father|parent|son|daughter|brother|sister)s?|wi(?:fe|ves)|husbands?|spouses?"
    r"|prisoners?|detainees?"
    r"|(?:first|second|third|fourth|fifth|sixth|other|two|three|both|all) applicants?|applicants|compan(?:y|ies)"
    r"|applicant \w+(?= (?:had|was|were|is|did))|organi[sz]ations?|associations?|part(?:y|ies)|newspapers?"
    r"|journalists?)\b",
    re.IGNORECASE,
)
"""People and bodies: a case must name those of a fact that it gets."""
_DEFINITE = re.compile(r"\b[Tt]he (?:\w+ing |\w+ed )?([a-z-]{3,})")
"""The noun, or its first modifier, of what a text takes as known."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_INITIALS = re.compile(r"\b(?:[A-Z]\.)+|(?<=\s)[A-Z]\b(?![.-])")
_DENIAL = re.compile(r"\b(?:no|not|nor|never|without|none|normal|negative|absen\w+|unremarkable)\b", re.IGNORECASE)
_NAMED = re.compile(r"(?<=[^.] )[A-Z][\w’'-]*|\b(?:he|she|his|her|him|hers|they|their|them)\b")
"""Names and pronouns: a case must have those of a fact that it gets."""


class ForeignFacts:
    """Draws citable facts of a corpus for cases that do not state them."""

    def __init__(self, corpus: CorpusFacts) -> None:
        self.corpus = corpus
        self._last: tuple[str, list[tuple[Fact, float]]] = "", []
        self._weights: dict[tuple[str, str], tuple[dict[str, float], float]] = {}

    def draw(self, case: Case, replaced: Fact, start: int, rng: Random) -> Fact | None:
        """Draw a fact in place of one at `start` of the reference. It is not stated in the case, nor is its matter.

        It shares rare words with the case and with the text around it, as a fact of the case would. It denies
        something if the replaced fact does, and has a number if that has one.
        """
        end = start + len(replaced.text)
        around = case.reference[max(0, start - AROUND) : start] + case.reference[end : end + AROUND]
        near = set(words(around))
        fits = [
            (known, other)
            for other, known in self._unstated(case)
            if LENGTHS[0] < len(other.text) / len(replaced.text) < LENGTHS[1]
            and _kind(other) == _kind(replaced)
            and rng.random() < DRAWN
        ]
        fits.sort(key=lambda fit: -fit[0] - self._share(case, fit[1], near))
        if not fits:
            return None
        _, fact = rng.choice(fits[:RELATED])
        text = with_years_of_case(case, fact.text, rng)
        return None if text is None else replace(fact, text=text)

    def _share(self, case: Case, fact: Fact, known: Set[str]) -> float:
        """The share of the words of a fact that are known as they are written, weighted by how rare they are."""
        found = self._weights.get((case.domain, fact.text))
        if found is None:
            weights = {word: self.corpus.rarity(case.domain, stem(word)) for word in words(fact.text)}
            found = self._weights[case.domain, fact.text] = weights, sum(weights.values()) or 1.0
        weights, total = found
        return sum([weights[word] for word in weights if word in known]) / total

    def _unstated(self, case: Case) -> list[tuple[Fact, float]]:
        """Return the facts that a case does not state, and the share of their words that it knows.

        Those of the last case are kept, as P4 draws many from it.
        """
        if self._last[0] != case.case_id:
            known = _words_of(case.context, case.reference)
            found = [
                (fact, self._share(case, fact, known))
                for fact in self.corpus.of_domain(case.domain)
                if not _IDENTITY.search(fact.text)
                and not _UNFIT.search(fact.text)
                and self._is_usual(case, fact)
                and is_unstated(case, fact)
                and fits_case(case, fact)
            ]
            self._last = case.case_id, found
        return self._last[1]

    def _is_usual(self, case: Case, fact: Fact) -> bool:
        """Whether the words that a case does not have are common in its domain, and few."""
        known = vocabulary(f"{case.context}\n\n{case.reference}")
        new = [stem for stem in _stems(fact) if stem not in known and not stem[0].isdigit()]
        are_common = all(self.corpus.share(case.domain, stem) >= COMMON for stem in new)
        return are_common and self._share(case, fact, _words_of(case.context, case.reference)) >= KNOWN

    @property
    def operators(self) -> list[Operator]:
        return [Operator("foreign_fact", 4, partial(_cite_foreign_fact, self))]


def is_unstated(case: Case, fact: Fact) -> bool:
    """Whether a case seems to say nothing on the matter of a fact: a guess from words."""
    stated, known = set(_stems(fact)), vocabulary(f"{case.context}\n\n{case.reference}")
    if sum(stem not in known for stem in stated) < MIN_NEW:
        return False
    return all(len(stated & sentence.stems) <= MAX_SHARED * len(stated) for sentence in sentence_index(case.context))


def fits_case(case: Case, fact: Fact) -> bool:
    """Whether a case knows whom a fact names, and the things that it takes as known."""
    text, known = f"{case.context}\n\n{case.reference}", _words_of(case.context, case.reference)
    named = words(" ".join([*_NAMED.findall(fact.text), *_DEFINITE.findall(fact.text)]))
    return (
        set(named) <= known
        and all(contains(text, match[0]) for match in _PEOPLE.finditer(fact.text))
        and all(initials in text for initials in _INITIALS.findall(fact.text))
    )


def with_years_of_case(case: Case, text: str, rng: Random) -> str | None:
    """Move the years of a text, together, to years of the case. None if the case has none for them."""
    years = [int(year) for year in _YEAR.findall(text)]
    if not years:
        return text
    stated = sorted(map(int, _YEAR.findall(case.context)))
    if not stated:
        return None
    moved = rng.choice(stated[len(stated) // 4 :]) - years[0]
    if max(years) + moved > stated[-1]:
        return None
    return _YEAR.sub(lambda match: str(int(match[0]) + moved), text)


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
