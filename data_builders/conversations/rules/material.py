"""What rules need of a document: facts, the topic of each, changed values, and words for directives."""

import re
from collections import Counter
from random import Random

from data_builders.perturb.rules.clauses import FINITE
from data_builders.perturb.rules.facts import Fact, facts, is_plain
from data_builders.perturb.rules.text_match import content_words
from judge_r1.core.conversations import Document

_MAX_TOPIC_WORDS = 9
_NUMBER = re.compile(r"(?<![\w./,–-])\d{1,4}(?:\.\d+)?(?![\w/,–-]|\.\d)")
_PLAIN_WORD = re.compile(r"\b[a-z]{5,}\b")
_NO_TOPIC = re.compile(
    r"\b(?:and|or|but|which|that|who|than|though|while|when|if|as|of|for|with|to|by|was|were|is|are|had|has"
    r"|there|here|not|only|also|remaining|first|second|third|other|others|per ?cent|\d+\.\d+)$"
    r"|^(?:because|although|if|as|that|in|on|at|of|after|before|for|under|while|when|since|from|by|with|no|both|there"
    r"|then|during|among|between|without|within|over|until|to|through|only|once)\b",
    re.IGNORECASE,
)
"""Ends and starts of phrases that are no subject."""
_CLAUSE = re.compile(r"\b(?:that|what|whether|which|who|how|why|where|but|if|also|not|still|already)\b", re.IGNORECASE)
"""A word inside a phrase that shows that it holds a verb, such as "the court held that the measure"."""
_TWO_SENTENCES = re.compile(r"[^\W\d_]\. [A-Z]\w")
"""Inside a fact, after a unit: the splitter takes its full stop for that of an abbreviation."""
_LIST_END = re.compile(r"(?!and |or )[^,]+ (?:and|or) ")
"""What follows the last comma of a list. Other phrases with a comma are no subject, or hold a remark."""
_NOUN = (
    r"\b(?:the|an?|of|no|his|her|their) {word}"
    r"(?=[.,;:]| (?:of|in|on|at|was|were|is|are|had|has|to|for|with|by|from|between)\b)"
)
"""Where a word is a noun: between an article or preposition and what cannot follow an adjective."""
_VAGUE = frozenset(
    [
        "first",
        "second",
        "third",
        "minute",
        "month",
        "middle",
        "number",
        "order",
        "range",
        "group",
        "member",
        "subject",
        "standing",
    ]
)
"""Nouns that name no subject of a conversation."""
_ENDING = re.compile(r"(?<=....)(?:ments?|ations?|ions?|ings?|als?|ures?|ed|es|s)$")
_FACTORS, _SHIFTS = (0.5, 0.6, 0.7, 0.8, 1.2, 1.3, 1.4, 1.6, 1.9), (-4, -3, -2, 2, 3, 4)
_YEARS = range(1900, 2100)


def plain_facts(document: Document) -> list[Fact]:
    """The facts that read well without quotation marks, with a topic that no other fact has."""
    by_topic: dict[str, list[Fact]] = {}
    for fact in facts(document.context):
        by_topic.setdefault(topic(fact, document.context), []).append(fact)
    single = [found[0] for name, found in by_topic.items() if name and len(found) == 1]
    return [fact for fact in single if is_plain(fact) and not _TWO_SENTENCES.search(fact.text)]


def topic(fact: Fact, context: str) -> str:
    """The subject of a fact, to ask about it: the words before its verb. Empty if they are too many or none."""
    verb = FINITE.search(fact.text)
    words = fact.text[: verb.start()].split() if verb else []
    name = " ".join(words).rstrip(" ,")
    if not 1 < len(words) <= _MAX_TOPIC_WORDS or _NO_TOPIC.search(name) or not content_words(name):
        return ""
    if _CLAUSE.search(name) or (", " in name and not _LIST_END.match(name.rpartition(", ")[2])):
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


def changed_value(fact: Fact, context: str, random: Random) -> str | None:
    """The fact with another number, which the context holds nowhere; None without a number to change."""
    numbers = list(_NUMBER.finditer(fact.text))
    for match in random.sample(numbers, len(numbers)):
        decimals = len(match[0].partition(".")[2])
        value = float(match[0])
        for _ in range(20):
            new = value + random.choice(_SHIFTS) if value in _YEARS else value * random.choice(_FACTORS)
            other = f"{new:.{decimals}f}"
            if other != match[0] and not re.search(rf"(?<![\d.]){re.escape(other)}(?![\d.])", context):
                return fact.text[: match.start()] + other + fact.text[match.end() :]
    return None


def excluded_words(found: list[Fact], random: Random) -> list[str]:
    """Nouns for a directive, in random order: each is in one to three facts."""
    counts = Counter(word for fact in found for word in set(_PLAIN_WORD.findall(fact.text)))
    text = " ".join(fact.text for fact in found)
    words = sorted(
        word
        for word, count in counts.items()
        if count <= 3 and word not in _VAGUE and content_words(word) and re.search(_NOUN.format(word=word), text)
    )
    return random.sample(words, len(words))


def mentions(text: str, word: str) -> bool:
    """Whether a text has a word, or another one with its stem: "was adjourned" mentions an adjournment."""
    return re.search(rf"\b{re.escape(_ENDING.sub('', word))}", text, re.IGNORECASE) is not None
