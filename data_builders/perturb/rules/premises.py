"""Finds statements of earlier steps that a wording can take up: `since the mass was stable, …`."""

import re
from functools import lru_cache

from data_builders.lexicons import load_lexicon
from data_builders.perturb.rules.clauses import ACTION_VERBS, is_main_clause, whole_sentences
from data_builders.perturb.rules.operators import Step
from data_builders.perturb.rules.steps import split_steps

_FUNCTION_WORDS = load_lexicon("function_words", frozenset[str])
_FRAME = re.compile(
    r"^(?:(?:In (?:the (?:present|instant) case|this (?:connection|respect|context)), )?"
    r"(?:[Tt]he Court|[Ii]t)(?: also| further| therefore)? (?:notes|observes|considers|finds|accepts|recalls)"
    r"(?: at the outset| further| also)? that |(?:Moreover|Furthermore|However|In addition|Finally|Secondly|Firstly), )"
)
_SEPARATOR = re.compile(r"; |, (?:and|but|so|because|since) ")
_BRACKETED = re.compile(r" ?\([^()]*\)")
_UNCLEAR = re.compile(
    r"^(?:neither|either|only|it|this|these|those|that|they|he|she|his|her|their|its|such|another|other|both|and|but|or|nor|so|yet|here|i|we"
    r"|my|our|you|then|thus|there has accordingly|whether|if|what|how)\b"
    r"|[,;:(\[“”\"?*]|\b(?:above|below|however|therefore|also|again|I|my|this|these|such|latter|former)\b|[–—]",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(
    r"\b(?:that|which|who)(?: \S+){0,2}$|\b(?:and|or|of|to|the|a|an|in|by|for|with|is|are|was|were)$"
)
_MIN_WORDS, _MAX_WORDS = 5, 22


@lru_cache(maxsize=16)
def _premises(reference: str) -> tuple[tuple[int, str], ...]:
    """Return the step index and text of each statement that can stand behind `since`."""
    return tuple(
        (step.index, lower_first(text, reference))
        for step in split_steps(reference)
        for start, end in whole_sentences(step, _MIN_WORDS)
        if step.text[end - 1] == "."
        for text in _SEPARATOR.split(_FRAME.sub("", _BRACKETED.sub("", step.text[start : end - 1])))
        if _is_statement(text)
    )


def _is_statement(text: str) -> bool:
    first = text.split(" ", 1)[0]
    return (
        _MIN_WORDS <= len(text.split()) <= _MAX_WORDS
        and (first[0].isupper() or first in ("the", "a", "an", "no"))
        and first.lower() not in ACTION_VERBS
        and not first.endswith(("ed", "ing"))
        and not re.search(r"\b[A-Z]{4,} [A-Z]{4,}\b", text)
        and not _UNFINISHED.search(text)
        and not _UNCLEAR.search(text)
        and is_main_clause(text)
    )


def premises(reference: str, step: Step) -> list[str]:
    """Return the statements of the steps before `step`, or else after it, without a capital or full stop."""
    found = _premises(reference)
    earlier = [text for index, text in found if index < step.index]
    return earlier or [text for index, text in found if index > step.index]


def lower_first(text: str, reference: str) -> str:
    """Lower the first letter unless the first word may be a name or an abbreviation."""
    first = re.split(r"\W", text, maxsplit=1)[0]
    lower = first.lower()
    is_name = first[1:] != lower[1:] or len(first) < 2
    is_word = lower in _FUNCTION_WORDS or re.search(rf"\b{re.escape(lower)}s?\b", reference) is not None
    is_ending = re.search(r"(?:ing|tion|ment|ness|ity|sis|ies|ies|ive|al)s?$", lower) is not None
    return text if is_name or not (is_word or is_ending) else lower + text[len(first) :]
