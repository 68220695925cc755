"""The scanner: splits a document into sections of whole sentences."""

from dataclasses import dataclass

from retrieval.passages import prose_sentences
from retrieval.words import WORD, count_words

FIRST_CONTEXT = "(This is the first section; nothing comes before it.)"
"""The context of the first of several sections in stride mode."""


@dataclass(frozen=True)
class Section:
    """Characters `[start, end)` of a document. `context` is the end of the section before it in stride mode; None in
    hard mode and for the only section of a document."""

    number: int
    start: int
    end: int
    text: str
    context: str | None = None


class WordCounter:
    """Counts and cuts by words (`retrieval.words`), where the model's tokenizer is unknown."""

    unit = "words"

    def count(self, text: str) -> int:
        return count_words(text)

    def tail(self, text: str, tokens: int) -> str:
        """The last `tokens` tokens of a text."""
        starts = [match.start() for match in WORD.finditer(text)][-tokens:] if tokens else []
        return " ".join(text[starts[0] :].split()) if starts else ""


def scan(
    text: str,
    counter: WordCounter,
    limit: int | None,
    overlap: float = 0.0,
) -> list[Section]:
    """Sections of at most `limit` tokens; a longer sentence is a section of its own. None is one section.

    Sentences are packed in order, and a section spans from its first to its last sentence, so sections are disjoint and
    hold every character that is not white space. `overlap` in [0, 1) is the part of `limit` that a section sees of the
    end of the one before it, in addition to its own tokens: 0 is hard mode, more is stride mode.

    The greedy packing gives at least ⌈tokens / limit⌉ sections.

    Raises: ValueError for a limit below 1, or an overlap outside of [0, 1).
    """
    if not 0 <= overlap < 1 or (limit is not None and limit < 1):
        raise ValueError(f"limit {limit} must be at least 1, and overlap {overlap} at least 0 and below 1")
    packed: list[tuple[int, int]] = []
    used = 0
    for start, end in prose_sentences(text):
        tokens = counter.count(text[start:end])
        if packed and (limit is None or used + tokens <= limit):
            packed[-1] = (packed[-1][0], end)
            used += tokens
        else:
            packed.append((start, end))
            used = tokens
    sections: list[Section] = []
    for number, (start, end) in enumerate(packed, 1):
        context = None
        if overlap and limit is not None and len(packed) > 1:
            kept = int(limit * overlap)
            context = f"...{counter.tail(sections[-1].text, kept)}" if sections else FIRST_CONTEXT
        sections.append(Section(number, start, end, text[start:end], context))
    return sections
