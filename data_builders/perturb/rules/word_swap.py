"""Replaces words by others of their class, with the number, article and capital of the old word."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random


@dataclass(frozen=True)
class TermMatch:
    """An occurrence of a word of a class; `plural` means that it has an `s` there."""

    word: str
    start: int
    end: int
    plural: bool
    swap_class: "SwapClass"


@dataclass(frozen=True)
class SwapClass:
    """Words that can replace each other where the text before matches `left` and the text after matches `right`.

    `max_distance` limits a swap to words whose ranks in the class differ by no more.
    """

    name: str
    words: tuple[str, ...]
    left: str = ""
    right: str = ""
    max_distance: int | None = None

    @cached_property
    def _by_text(self) -> dict[str, int]:
        return {word.lower(): rank for rank, word in enumerate(self.words)}

    @cached_property
    def _slot(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        return re.compile(rf"(?:{self.left})$"), re.compile(self.right)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(map(re.escape, self.words), key=lambda text: (-len(text), text))
        return re.compile(rf"(?<![\w-])({'|'.join(longest_first)})(e?s)?(?![\w-]|['’]s\b)", re.IGNORECASE)

    def find(self, text: str, start: int, end: int) -> Sequence[TermMatch]:
        """Return the words of this class in `text[start:end]` that occur in the class's slot."""
        return self._remembered(text, start, end)

    @cached_property
    def _remembered(self) -> Callable[[str, int, int], Sequence[TermMatch]]:
        return lru_cache(maxsize=256)(lambda text, start, end: tuple(self._search(text, start, end)))

    def _search(self, text: str, start: int, end: int) -> Iterator[TermMatch]:
        left, right = self._slot
        for match in self._pattern.finditer(text, start, end):
            word = self.words[self._by_text[match[1].lower()]]
            slot = left.search(text[max(start, match.start() - 60) : match.start()]) and right.match(text, match.end())
            if slot and (word.islower() or match[1] == word):
                yield TermMatch(word, match.start(), match.end(), match[2] is not None, self)

    def swap(self, found: TermMatch, fits: Callable[[str], bool], before: str, rng: Random) -> str | None:
        """Draw another word in the number of `found`, or None.

        Args:
            found: the word to replace.
            fits: whether the case allows a word.
            before: the text before `found`; its `a` or `an` must stay correct.
            rng: the source of randomness.
        """
        article = re.search(r"\b(an?)\s+$", before, re.IGNORECASE)
        allowed = [
            word
            for word in self.near(found.word)
            if (article is None or _takes_an(word) == (article[1].lower() == "an")) and fits(word)
        ]
        if not allowed:
            return None
        drawn = rng.choice(allowed)
        return _pluralize(drawn) if found.plural else drawn

    def near(self, word: str) -> Sequence[str]:
        """Return the other words within `max_distance`."""
        rank, limit = self._by_text[word.lower()], self.max_distance
        return [w for r, w in enumerate(self.words) if r != rank and (limit is None or abs(r - rank) <= limit)]


def match_case(new: str, old: TermMatch, text: str) -> str:
    """Capitalize `new` if `old` is a lower-case word that has a capital in `text`."""
    fixed = old.word[0].isupper() or any(map(str.isdigit, new))
    return new if fixed or text[old.start].islower() else new[0].upper() + new[1:]


def swap_term(found: TermMatch, text: str, fits: Callable[[str], bool], rng: Random) -> str | None:
    """Draw a word in place of `found` in `text`, as `SwapClass.swap` does, with the capital of the old one."""
    new = found.swap_class.swap(found, fits, text[: found.start], rng)
    return None if new is None else match_case(new, found, text)


def _takes_an(word: str) -> bool:
    """Whether a word takes `an`. Abbreviations are read letter by letter."""
    return word[0] in ("AEFHILMNORSX" if re.match(r"[A-Z]{2}|[A-Z]-", word) else "aeiouAEIOU")


def _pluralize(word: str) -> str:
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(s|x|ch|sh)$", word) else "s")
