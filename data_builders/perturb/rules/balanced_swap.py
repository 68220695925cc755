"""Swaps that leave no trace: a word is replaced by another of its class, as often in one direction as in the other.

A judge that never sees the case must not be able to tell the flawed text by its words. So the chance q(x → y) of a
replacement meets detailed balance, f(x) q(x → y) = f(y) q(y → x), for the frequencies f with which the words stand in
reference reasonings: y is proposed with probability w(y) / Z(x), Z(x) = Σ w(z) over the other words of the class, and
accepted with probability min(1, Z(x) / Z(y)) (Metropolis and Hastings). The weights w are in `weights.py`; `balance.py`
fits them to a corpus, where w = f up to what the case excludes. A word without weight is neither taken nor given; a
class without any has equal ones.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from data_builders.perturb.lexicons.weights import WEIGHTS
from judge_r1.core.records import Case

OWN_WEIGHTS = frozenset({"builtin"})
"""Sources whose cases ship with the package, so that their own word frequencies could be fitted."""


@dataclass(frozen=True)
class Term:
    """One word or phrase of a class, and other words for the same thing."""

    text: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """A term where it stands in some text; `plural` says that it has an `s` there."""

    term: Term
    start: int
    end: int
    plural: bool
    klass: "SwapClass"


@dataclass(frozen=True)
class SwapClass:
    """Words that can stand in each other's place, where the text before matches `left` and the text after `right`.
    `near` limits a swap to words with a small difference in rank."""

    name: str
    terms: tuple[Term, ...]
    left: str = ""
    right: str = ""
    near: int | None = None

    @classmethod
    def parse(cls, name: str, lexicon: str, left: str = "", right: str = "", near: int | None = None) -> "SwapClass":
        """From `word, word=other name/other name, …`."""
        entries = [entry.strip() for entry in lexicon.replace("\n", " ").split(",") if entry.strip()]
        terms = []
        for entry in entries:
            text, _, names = entry.partition("=")
            terms.append(Term(text, tuple(n for n in names.split("/") if n)))
        return cls(name, tuple(terms), left, right, near)

    @cached_property
    def _by_text(self) -> dict[str, int]:
        return {term.text.lower(): rank for rank, term in enumerate(self.terms)}

    @cached_property
    def _slot(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        return re.compile(rf"(?:{self.left})$"), re.compile(self.right)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted((re.escape(term.text) for term in self.terms), key=lambda text: (-len(text), text))
        return re.compile(rf"(?<![\w-])({'|'.join(longest_first)})(e?s)?(?![\w-]|['’]s\b)", re.IGNORECASE)

    def find(self, text: str, start: int, end: int) -> Iterator[Found]:
        """The terms of this class in `text[start:end]`, in their slots."""
        left, right = self._slot
        for match in self._pattern.finditer(text, start, end):
            term = self.terms[self._by_text[match[1].lower()]]
            slot = left.search(text[max(start, match.start() - 60) : match.start()]) and right.match(text, match.end())
            if slot and (term.text.islower() or match[1] == term.text):
                yield Found(term, match.start(), match.end(), match[2] is not None, self)

    def swap(self, found: Found, corpus: str, fits: Callable[[str], bool], before: str, rng: Random) -> str | None:
        """Another term of the class in the form in which `found` stands, or None where the draw is refused.

        `corpus` (see there) names the weights; `fits` says which terms the case allows; `before` is the text before it,
        whose `a` or `an` must stay right.
        """
        weights = WEIGHTS.get((corpus, self.name), dict.fromkeys((term.text for term in self.terms), 1.0))
        if not weights.get(found.term.text):
            return None
        allowed = [text for text in self.allowed(found, before) if weights.get(text) and self.fit_for(text, fits)]
        if not allowed:
            return None
        drawn = rng.choices(allowed, [weights[text] for text in allowed])[0]
        if rng.random() * self.mass(drawn, weights) >= self.mass(found.term.text, weights):
            return None
        return _plural(drawn) if found.plural else drawn

    def allowed(self, found: Found, before: str) -> list[str]:
        """The terms that grammar and `near` allow in the place of a found one."""
        article = re.search(r"\b(an?)\s+$", before, re.IGNORECASE)
        others = (self.terms[rank].text for rank in self._others(self.rank(found.term.text)))
        return [text for text in others if article is None or _vowel(text) == (article[1].lower() == "an")]

    def fit_for(self, text: str, fits: Callable[[str], bool]) -> bool:
        """Whether a term fits under all its names."""
        return all(map(fits, (text, *self.terms[self.rank(text)].aliases)))

    def mass(self, text: str, weights: Mapping[str, float]) -> float:
        """Z: the weights of the words that a term may be swapped for, together."""
        return sum(weights.get(self.terms[other].text, 0.0) for other in self._others(self.rank(text)))

    def rank(self, text: str) -> int:
        return self._by_text[text.lower()]

    def _others(self, rank: int) -> Sequence[int]:
        ranks = range(len(self.terms))
        return [r for r in ranks if r != rank and (self.near is None or abs(r - rank) <= self.near)]


def corpus(case: Case) -> str:
    """The name under which `weights.py` has the frequencies that hold for a case: its domain, or its source's own."""
    return f"{case.source} {case.domain}" if case.source in OWN_WEIGHTS else case.domain


def in_case_of(new: str, old: Found, text: str) -> str:
    """`new` with a capital where a word stands in the text with one that is not its own."""
    own = old.term.text[0].isupper() or any(map(str.isdigit, new))
    return new if own or text[old.start].islower() else new[0].upper() + new[1:]


def _vowel(word: str) -> bool:
    """Whether a word takes `an`; letters of an abbreviation are spoken one by one."""
    return word[0] in ("AEFHILMNORSX" if re.match(r"[A-Z]{2}|[A-Z]-", word) else "aeiouAEIOU")


def _plural(word: str) -> str:
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(s|x|ch|sh)$", word) else "s")
