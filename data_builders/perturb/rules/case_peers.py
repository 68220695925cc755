"""Finds words of one kind in a text: those that a list names together, such as `the liver, spleen and kidney`."""

import re
from functools import lru_cache
from itertools import permutations

from data_builders.perturb.rules.text_match import content_words

_ITEM = r"[A-Za-z][\w-]*[\w]"
_LIST = re.compile(
    rf"(?<=[\s(])(?P<first>{_ITEM})(?P<middle>(?:, {_ITEM}){{0,6}}),? (?:and|or|versus|vs\.?) (?P<last>{_ITEM})"
    r"(?=[.,;:)]|\s+(?:in|of|on|at|with|from|for|by|to|was|were|is|are|between|among|during|after|before)\b)",
)
_ENDINGS = ("ed", "ing", "ly", "ally", "al", "ic", "ous", "ive", "ar", "able", "er", "est", "s")


@lru_cache(maxsize=8)
def peers(text: str) -> dict[str, list[str]]:
    """Map each listed word to the words of its lists that have the same ending, capitals and article.

    `a and b` counts for abbreviations only, since `and` may join clauses.
    """
    found: dict[str, dict[str, None]] = {}
    for match in _LIST.finditer(text):
        items = [match["first"], *re.findall(_ITEM, match["middle"]), match["last"]]
        named = len(items) > 2 or all(not item[1:].islower() for item in items)
        for one, other in permutations(items, 2) if named else ():
            if (
                len(min(one, other, key=len)) > 2
                and _form(one) == _form(other)
                and one.lower() != other.lower()
                and content_words(one)
            ):
                found.setdefault(one, {})[other] = None
    return {word: list(others) for word, others in found.items()}


def _form(word: str) -> tuple[str | None, bool, bool, bool]:
    """Return what two words must share: ending, capitals, digits, and whether they take `an`."""
    ending = next((ending for ending in _ENDINGS if word.lower().endswith(ending)), None)
    return ending, word[1:].islower(), word[0].isupper(), word[0].lower() in "aeiou"
