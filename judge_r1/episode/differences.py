"""Aligns two candidates sentence by sentence, so that a prompt shows what they share once and where they differ."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, zip_longest

from retrieval.passages import sentences

BEFORE = 3
"""How many shared words before a difference are marked with it, so that a reader finds the same place in the case."""

_ROUND = str.maketrans("[]", "()")


@dataclass(frozen=True)
class SentencePair:
    """A sentence of A and its counterpart in B, as words. `[]` where one side has no counterpart."""

    a: list[str]
    b: list[str]

    @property
    def shared(self) -> bool:
        """Whether both sides have the same words."""
        return self.a == self.b

    @property
    def outside(self) -> tuple[int, int]:
        """How many first words and how many last words stand outside the brackets."""
        shortest = min(len(self.a), len(self.b))
        first = next((i for i in range(shortest) if self.a[i] != self.b[i]), shortest)
        last = next((i for i in range(shortest - first) if self.a[-1 - i] != self.b[-1 - i]), shortest - first)
        return max(0, first - BEFORE), last

    @property
    def bracketed(self) -> tuple[list[str], list[str]]:
        """The words of A and of B in brackets: from `BEFORE` words before the first that differs to the last that
        differs, with shared words between. Of a shared sentence it means nothing."""
        first, last = self.outside
        return self.a[first : len(self.a) - last], self.b[first : len(self.b) - last]


def align(a: str, b: str) -> Iterator[SentencePair]:
    """Yields the sentences of both texts in order. Between shared sentences, the first of A stands beside the first of
    B, the second beside the second, and so on. Square brackets become round, because `side_by_side` uses them."""
    texts = (a.translate(_ROUND), b.translate(_ROUND))
    words_a, words_b = ([text[start:end].split() for start, end in sentences(text)] for text in texts)
    blocks = SequenceMatcher(None, list(map(tuple, words_a)), list(map(tuple, words_b)), autojunk=False).get_opcodes()
    for _, a1, a2, b1, b2 in blocks:
        for one, other in zip_longest(words_a[a1:a2], words_b[b1:b2], fillvalue=list[str]()):
            yield SentencePair(one, other)


def side_by_side(a: str, b: str) -> str:
    """Both texts in one: a line `Both:` for sentences in a row that they share, and lines `A:` and `B:` for sentences
    that differ, with the `bracketed` words in brackets.

    White space counts as one space, so no text can begin a line itself, and texts that differ in white space alone give
    one line.
    """
    lines = []
    for shared, pairs in groupby(align(a, b), key=lambda pair: pair.shared):
        if shared:
            lines.append("Both: " + " ".join(word for pair in pairs for word in pair.a))
            continue
        for pair in pairs:
            first, last = pair.outside
            for side, words in (("A", pair.a), ("B", pair.b)):
                end = len(words) - last
                marked = f"[{' '.join(words[first:end])}]"
                lines.append(" ".join([f"{side}:", *words[:first], marked, *words[end:]]))
    return "\n".join(lines)
