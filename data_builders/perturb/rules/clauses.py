"""Finds the parts of a step that operators replace: sentences, and the reason, opening, advice, aim or tail of one.

The finders of one sentence take a text and the characters `[start, end)` of the sentence, and yield intervals of the
text.
"""

import re
from collections.abc import Iterator

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.perturb.rules.operators import Interval, Step
from data_builders.perturb.rules.steps import body_sentences


class _Words(Lexicon):
    openings: tuple[str, ...]
    action_verbs: tuple[str, ...]


_WORDS = load_lexicon("clauses", _Words)
_REASON = re.compile(
    r"\b(?P<link>due to|because of|because|based on|given(?! (?:to|by|in|the opportunity))|owing to|on account of"
    r"|in view of"
    r"|in light of|in the light of|on the basis of|supported by|suggested by|as evidenced by|as shown by"
    r"|on the ground that"
    r"|on the grounds that)\s+(?P<ground>[^.;:\n]{18,}?)(?=\s*(?:[.;:\n]|$|, (?:and|but|which|while|the|so|thus)\b))",
)
_OPENING = re.compile(rf"^(?:{'|'.join(_WORDS.openings)})[^,.;:\n]{{0,90}},\s")
_ADVICE = re.compile(
    r"\b(?:should|must|needs? to|ought to|please|would (?:suggest|recommend|advise|like) to"
    r"|(?:is|are|was|were) (?:required|indicated|recommended|essential|necessary|crucial|warranted|chosen|selected"
    r"|initiated|planned|performed) to"
    r"|(?:suggest|recommend|advise) to|will (?:need|have) to|required to|obliged to|obligation to|aim(?:s|ed)? to"
    r"|it (?:would|might) be (?:good|useful|helpful|important|nice|better|valuable|interesting) to)"
    r"\s+(?!have\b|not\b)(?P<action>[^.;:?\n]{20,})(?=[.;:?\n]|$)",
    re.IGNORECASE,
)
_AIM = re.compile(
    rf"(?P<aim>\b(?:(?:in order to|so as to|aiming to|aimed at|with the aim of|so that)\s+[^\W\d_]{{3,}}"
    rf"|to\s+(?:{'|'.join(_WORDS.action_verbs)})\b)[^.;:?\n]{{14,}})(?=[.;:?\n]|$)"
)
_IMPERATIVE = re.compile(
    r"^(?:To )?(?P<action>[A-Z][a-z]+e?(?<!ed)(?<!ing) (?!and\b)[a-z][^.;:?\n]{16,})(?=[.;:?\n]|$)"
)
_MIDDLE_COMMA = re.compile(r", (?![\w-]+(?: [\w-]+)?(?:,| and | or ))(?=[a-z])")


def reasons(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield `because …`, `due to …`: a link and its ground."""
    for match in reason_matches(text, start, end):
        yield match.span()


def reason_matches(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield reasons as matches with the groups `link` and `ground`."""
    return _REASON.finditer(text, start, end)


def openings(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield `In view of …, `: an opening phrase up to the first comma and the space after it."""
    if match := _OPENING.match(text[start:end]):
        yield start, start + match.end()


def advice(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield the action after `should`, `must`, `is to` and the like, and imperatives, up to the end of the sentence."""
    for match in _ADVICE.finditer(text, start, end):
        yield match.span("action")
    imperative = _IMPERATIVE.match(text[start:end])
    if imperative and imperative["action"].split()[0].lower() in _WORDS.action_verbs:
        yield start + imperative.start("action"), start + imperative.end("action")


def aims(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield `to …`, `so that …`: the purpose of an action, up to the end of the sentence."""
    for match in _AIM.finditer(text, start, end):
        yield match.span("aim")


def is_balanced(text: str) -> bool:
    """Whether all brackets, quotation marks and bold markers close within the text."""
    pairs = (("(", ")"), ("[", "]"), ("“", "”"))
    return all(text.count(a) == text.count(b) for a, b in pairs) and not (text.count('"') % 2 or text.count("**") % 2)


def whole_sentences(step: Step, min_words: int = 7, max_words: int = 70) -> list[Interval]:
    """Return the sentences of a step that may be replaced: complete, without a colon, and neither short nor long."""
    return [
        (start, end)
        for start, end in body_sentences(step, min_words)
        if len((text := step.text[start:end]).split()) <= max_words
        and text[-1] in ".!?"
        and text[0].isupper()
        and ":" not in text
        and is_balanced(text)
    ]


def sentence_tails(step: Step) -> list[Interval]:
    """Return, for whole sentences of at least 12 words, the text from a comma in the middle to the full stop."""
    return [tail for start, end in whole_sentences(step, 12) for tail in _tails(step.text, start, end)]


def _tails(text: str, start: int, end: int) -> Iterator[Interval]:
    for match in _MIDDLE_COMMA.finditer(text[start:end]):
        comma = start + match.start()
        tail = text[comma : end - 1]
        if (
            0.3 < match.start() / (end - start) < 0.75
            and len(re.split(r"[;,]", text[start:comma])[-1].split()) > 3
            and text[end - 1] == "."
            and is_balanced(tail)
            and len(tail.split()) >= 4
        ):
            yield comma, end - 1
