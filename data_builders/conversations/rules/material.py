"""What rules need of a document: the topics that a user can ask about, and changed values.

A topic is the subject of a sentence. Its answer is complete: all sentences of the document with the words of the topic,
up to three. A document where another sentence has these words, too, and cannot stand alone, does not offer the topic.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from random import Random

from data_builders.text_units.clauses import FINITE, is_balanced
from data_builders.text_units.facts import Fact, facts, is_plain
from data_builders.text_units.text_match import content_words, sentences_with

MOST_FACTS = 3
"""Sentences of an answer."""
_MAX_TOPIC_WORDS, _ALIKE = 9, 0.7
_UNSPECIFIC = frozenset([
    "additional", "average", "different", "entire", "final", "further", "general", "initial", "later", "left", "main",
    "major", "mean", "median", "minor", "number", "overall", "percentage", "previous", "primary", "remaining", "result",
    "right", "same", "second", "secondary", "single", "third", "total", "upper", "lower", "various", "whole",
])  # fmt: skip
"""Words that relate no two subjects."""
_NUMBER = re.compile(r"(?<![\w./,–-])\d{1,4}(?:\.\d+)?(?![\w/,–-]|\.\d)")
_PREPOSITION = (
    r"(?:of|in|on|at|to|for|with|by|from|between|against|under|after|before|during|within|without|over|into|through"
    r"|about|regarding|following)"
)
_NO_TOPIC = re.compile(
    r"\b(?:and|or|but|which|that|who|than|though|while|when|if|as|was|were|is|are|had|has"
    r"|there|here|not|only|also|remaining|first|second|third|other|others|per ?cent|\d+\.\d+|the|an?|prior|shall"
    r"|will|would|may|can|could|must|be|been|\w{2,}ed"
    rf"|therefore|thus|then|further|however|again|later|already|still|now|\w+sel(?:f|ves)|\w+ally|{_PREPOSITION})$"
    r"|^(?:according|around|because|although|if|as|that|no|both|there|then|among|until|only|once|while|when|since|each|every|all|most"
    r"|some|many|more|less|several|few|neither|either|such|other|another|others|majority|one of|"
    rf"{_PREPOSITION})\b|—",
    re.IGNORECASE,
)
"""Ends and starts of phrases that are no subject, or no subject of a single answer."""
_CLAUSE = re.compile(
    r"\b(?:that|what|whether|which|who|how|why|where|but|if|also|not|still|already|\w+ed \d+)\b"
    rf"|\b(?!{_PREPOSITION}\b|(?:and|or|per|as|than|all|both|half)\b)[\w’'-]+,? (?:the|an?|his|her|their|its)\b",
    re.IGNORECASE,
)
"""Words inside a phrase that show that it holds a verb ("the court held that the measure"), or two phrases ("the
following day the dispute")."""
_LIST_END = re.compile(r"(?!and |or )[^,]+ (?:and|or) ")
"""What follows the last comma of a list. Other phrases with a comma are no subject, or hold a remark."""
_FACTORS, _SHIFTS = (0.5, 0.6, 0.7, 0.8, 1.2, 1.3, 1.4, 1.6, 1.9), (-4, -3, -2, 2, 3, 4)
_YEARS, _DAYS = range(1900, 2100), range(1, 29)
_OF_MONTH = re.compile(r" (?:of )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b")


@dataclass(frozen=True)
class Topic:
    """A subject, its content words, and every sentence of the document that has them all."""

    name: str
    words: frozenset[str]
    facts: tuple[str, ...]

    @property
    def head(self) -> str:
        """The noun that the phrase is about: "hearing" in "the first hearing before the court"."""
        return re.split(rf",| {_PREPOSITION}\b| and | or ", self.name)[0].split()[-1].lower()

    def is_near(self, other: "Topic") -> bool:
        """Whether two topics share a word, and no sentence."""
        shared = {word for word in self.words & other.words if len(word) > 3 and not word[0].isdigit()}
        return bool(shared - _UNSPECIFIC) and not self.overlaps(other)

    def overlaps(self, other: "Topic") -> bool:
        return not set(self.facts).isdisjoint(other.facts)


@lru_cache(maxsize=64)
def topics(context: str) -> Sequence[Topic]:
    """The topics of a document, in order."""
    standing = {fact.start: fact for fact in facts(context) if is_plain(fact)}
    found: dict[frozenset[str], Topic] = {}
    for fact in standing.values():
        words = frozenset(content_words(name := subject(fact, context)))
        if name and words not in found and (answer := _answer(context, words, standing)):
            found[words] = Topic(name, words, answer)
    return tuple(found.values())


def _answer(context: str, words: frozenset[str], standing: dict[int, Fact]) -> tuple[str, ...]:
    """All sentences with these words; none if they are too many, one cannot stand alone, or two say the same."""
    every = sentences_with(context, sorted(words))
    if len(every) > MOST_FACTS:
        return ()
    holding = [fact for fact in standing.values() if words.issubset(content_words(fact.text))]
    inside = [fact for one in every for fact in holding if one.start <= fact.start < one.end]
    said = [set(content_words(fact.text)) for fact in inside]
    alike = any(len(one & other) > _ALIKE * len(one | other) for one, other in combinations(said, 2))
    return tuple(fact.text for fact in inside) if len(inside) == len(every) and not alike else ()


def subject(fact: Fact, context: str) -> str:
    """The subject of a fact, to ask about it: the words before its verb. Empty if they are too many or none."""
    verb = FINITE.search(fact.text)
    words = fact.text[: verb.start()].split() if verb else []
    name = " ".join(words).rstrip(" ,")
    if not 1 < len(words) <= _MAX_TOPIC_WORDS or not content_words(name) or not is_balanced(name):
        return ""
    if _NO_TOPIC.search(name) or _CLAUSE.search(name):
        return ""
    if ", " in name and not _LIST_END.match(name.rpartition(", ")[2]):
        return ""
    return name if _is_name(words, context) else name[0].lower() + name[1:]


def _is_name(words: list[str], context: str) -> bool:
    """Whether a phrase begins with a name: its first word has a capital elsewhere, too, inside a sentence or before
    another capital."""
    first, second = words[0].rstrip(","), words[1]
    if re.search(rf"\b{re.escape(first.lower())}\b", context) or first in ("A", "An", "The", "Both"):
        return False
    plain = re.fullmatch(r"[A-Z][a-z]+(?:-[a-z]+)?", first) and not re.match(r"[A-Z]\w", second)
    return not plain or re.search(rf"[a-z,;] {re.escape(first)}\b", context) is not None


def pairs(found: Sequence[Topic], *, same_head: bool) -> Iterator[tuple[Topic, Topic]]:
    """Pairs of topics that are near each other, or, to be confused by a short question, have the same head."""
    shortened = {topic.name.partition(" ")[2].lower() for topic in found} | _UNSPECIFIC
    for one in found:
        for other in found:
            confused = one.head == other.head and one.head not in shortened and re.fullmatch("[a-z]{4,}", one.head)
            if one.is_near(other) and (confused or not same_head):
                yield one, other


def changed_value(text: str, context: str, random: Random) -> str | None:
    """A text with another number, which the context holds nowhere; None without a number to change."""
    numbers = list(_NUMBER.finditer(text))
    for match in random.sample(numbers, len(numbers)):
        decimals = len(match[0].partition(".")[2])
        value, is_day = float(match[0]), _OF_MONTH.match(text, match.end()) is not None
        for _ in range(20):
            new = value + random.choice(_SHIFTS) if is_day or value in _YEARS else value * random.choice(_FACTORS)
            other = f"{new:.{decimals}f}"
            if is_day and new not in _DAYS:
                continue
            if other != match[0] and not re.search(rf"(?<![\d.]){re.escape(other)}(?![\d.])", context):
                return text[: match.start()] + other + text[match.end() :]
    return None
