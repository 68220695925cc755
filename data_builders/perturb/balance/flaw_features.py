"""Measures how a flawed reasoning differs from its reference, by counts that need no understanding."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from functools import lru_cache

from data_builders.text_units.text_counts import text_counts
from data_builders.text_units.text_match import WORD, changed, content_words


def count_features(reference: str, flawed: str) -> dict[str, float]:
    """Return the differences of the counts of both texts, flawed minus reference.

    `unexpected words` are the new words beyond those that as much text of this author would bring. `shared words of the
    change` is the share of its words that stand elsewhere in the text, minus that of what it replaces.
    """
    before, after = text_counts(reference), text_counts(flawed)
    differences = {name: after[name] - before[name] for name in before}
    differences["unexpected words"] = differences["different words"] - _single_share(reference) * differences["words"]
    differences["shared words of the change"] = _shared_words(reference, flawed)
    return differences


def changed_words(reference: str, flawed: str) -> dict[str, int]:
    """Return each word that the flaw adds (+1) or removes (-1)."""
    start, old_end, new_end = changed(reference, flawed)
    first, rest = _blank_before(reference, start), _blank_behind(reference, old_end) - old_end
    before = Counter(reference[first : old_end + rest].lower().split())
    after = Counter(flawed[first : new_end + rest].lower().split())
    return {word: 1 if after[word] > before[word] else -1 for word in before | after if after[word] != before[word]}


def _blank_before(text: str, position: int) -> int:
    """Where the word around or before a position begins."""
    while position > 0 and not text[position - 1].isspace():
        position -= 1
    return position


def _blank_behind(text: str, position: int) -> int:
    """Where the word around or behind a position ends."""
    while position < len(text) and not text[position].isspace():
        position += 1
    return position


def _shared_words(reference: str, flawed: str) -> float:
    start, old_end, new_end = changed(reference, flawed)
    old, new = (content_words(text) for text in (reference[start:old_end], flawed[start:new_end]))
    if not old or not new:
        return 0.0
    elsewhere = _counts_without(reference, start, old_end)
    return sum(elsewhere[word] > 0 for word in new) / len(new) - sum(elsewhere[word] > 0 for word in old) / len(old)


def _counts_without(text: str, start: int, end: int) -> Counter[str]:
    """Return how often each content word is in a text without its characters `[start, end)`.

    The words are found once for each text, because many flaws of one reference are measured.
    """
    starts, ends, counts = _word_places(text)
    first, last = bisect_right(ends, start), bisect_left(starts, end)
    if first >= last:
        return counts
    left, right = min(starts[first], start), max(ends[last - 1], end)
    changed_counts = counts.copy()
    changed_counts.subtract(_content_counts(text[left:right]))
    changed_counts.update(_content_counts(f"{text[left:start]} {text[end:right]}"))
    return changed_counts


@lru_cache(maxsize=4)
def _word_places(text: str) -> tuple[list[int], list[int], Counter[str]]:
    """Return where the words of a text begin and end, and how often each content word occurs."""
    found = [match.span() for match in WORD.finditer(text)]
    return [start for start, _ in found], [end for _, end in found], _content_counts(text)


def _content_counts(text: str) -> Counter[str]:
    """Count the content words of a text."""
    return Counter(stem for word in WORD.findall(text) for stem in content_words(word))


@lru_cache(maxsize=4)
def _single_share(text: str) -> float:
    """Return the share of the words of a text that occur once in it: so many are lost if a part of it is removed."""
    counts = Counter(re.findall(r"\w+", text.lower()))
    return sum(count == 1 for count in counts.values()) / max(1, counts.total())
