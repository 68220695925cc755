"""Finds where operators replace or add text in a step: whole sentences, their ends, and the fragments of a list."""

import re

from data_builders.perturb.rules.clauses import ACTION_VERBS, FINITE, aims, is_balanced
from data_builders.perturb.rules.operators import Interval, Step
from data_builders.perturb.rules.steps import MARKER, body_sentences

_CLOSED = re.compile(r"[.)\]”\"’]$|\betc$|\b(?:if|unless|, who|, which|, because|, since)\b[^,]*$")
_ADVICE = re.compile(
    r"\b(?:(?:should|must)(?! be (?!\w+ed\b))|needs? to|ought to|recommend\w*"
    r"|I (?:would )?suggest|is to be|will be|can be|[Pp]lease|plan\w*"
    r"|necessary to)\b"
)
_OPEN_ADVICE = re.compile(
    r"\b(?:should|must|can) (?:not|never|be (?:noted|seen|considered|understood|declared|rejected|examined"
    r"|kept in mind))"
    r"|\b(?:not|never|cannot|could have|should have|would have|without|unless|if)\b"
)
LINKS = (
    r"(?:It|This|These|Those|That|They|Their|Its|Such|Both|Here|There|Then|However|But|Nevertheless|Moreover|Therefore"
    r"|Furthermore|Also|Notably|Additionally|Interestingly|Importantly|Besides|Meanwhile|Of note|Thus|Hence|Accordingly"
    r"|Consequently|Otherwise|Instead|Similarly|Likewise|Similar|So|And|Or|Yet|Nor|Neither|Indeed|Another|Others?|As|Some"
    r"|For (?:example|instance|this|that)|Again|Even|Finally|Secondly?|Thirdly?|Rather|Still|Subsequently|Thereafter"
    r"|In (?:addition|particular|this|that|such|these|contrast)|On the (?:other|same|contrary))\b"
)
"""The openings of sentences that need the sentence before."""
_DEPENDENT = re.compile(
    rf"[\"'“‘(\[*]*(?:{LINKS}|(?:He|She|His|Her|The (?:latter|former|same|other|second))\b"
    r"|(?:\w+,? ){1,5}(?:this|these|those|such)\b"
    r"(?! (?:a |an |as |cases?|court|convention|patient|study|paper|article|manuscript)\b))"
)
_EVIDENCE = re.compile(
    r"\b(?:absence|lack|presence|history|positiv\w+|negativ\w+|elevated|normal|findings?|symptoms?|imaging|markers?)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    rf"(?:{'|'.join(ACTION_VERBS)})\b|\w+ (?:the|a|an|any|all|and|with|for|to|by)\b", re.IGNORECASE
)
_LONG = 25
"""Words of a sentence that takes no further clause at its end."""


def whole_sentences(step: Step, min_words: int = 7, max_words: int = 70) -> list[Interval]:
    """Return the statements of a step that are complete, without a colon, and neither short nor long."""
    return [
        (start, end)
        for start, end in body_sentences(step, min_words)
        if len((text := step.text[start:end]).split()) <= max_words
        and text[-1] == "."
        and text[0].isupper()
        and ":" not in text
        and is_balanced(text)
    ]


def replaceable_sentences(step: Step) -> list[Interval]:
    """Return the statements that no other text of the step depends on: no heading names them, and no sentence refers
    to the one before."""
    return [
        (start, end)
        for start, end in whole_sentences(step, max_words=45)
        if (start, end) not in step.remarks
        and not has_dependent(step, end)
        and not step.text[:start].rstrip(" *\n").endswith((":", "–", "—"))
        and _is_statement(step.text[start:end])
    ]


def _is_statement(text: str) -> bool:
    """Whether the text has a finite verb and is no order or aim such as `Reduce the dose.`"""
    return FINITE.search(text) is not None and text.split(" ", 1)[0].lower() not in ACTION_VERBS


def has_dependent(step: Step, end: int) -> bool:
    """Whether the text behind `end` needs the sentence before."""
    return is_dependent((step.text[end:] + step.following).lstrip())


def is_dependent(text: str) -> bool:
    return _DEPENDENT.match(text) is not None


def sentence_ends(step: Step) -> list[Interval]:
    """Return the empty intervals behind whole sentences, where a sentence can be added."""
    return [
        (end, end)
        for start, end in whole_sentences(step)
        if not has_dependent(step, end) and _is_statement(step.text[start:end])
        # A sentence behind a step of one sentence may belong to the next step.
        if end < len(step.text) or len(body_sentences(step, 1)) > 1
    ]


def noun_bullets(step: Step) -> list[Interval]:
    """Return the body of a list entry that is a noun phrase such as `Absence of fever and night sweats`."""
    if not MARKER.match(step.text) or len(found := body_sentences(step, 5)) != 1:
        return []
    [(start, end)] = found
    text = step.text[start:end].rstrip(".")
    is_clause = FINITE.search(text) or _IMPERATIVE.match(text) or ":" in text
    is_phrase = text[0].isupper() and _EVIDENCE.search(text) and not is_clause
    return [(start, start + len(text))] if is_phrase and is_balanced(text) else []


def advice_ends(step: Step) -> list[Interval]:
    """Return where the manner of an action can be said: in place of its aim, or before the full stop of advice."""
    found: list[Interval] = []
    for start, end in body_sentences(step, 4):
        text = step.text[start:end]
        advised = text.split(" ", 1)[0].lower() in ACTION_VERBS or _ADVICE.search(text)
        if not advised or _OPEN_ADVICE.search(text) or text[-1] in ":?":
            continue
        found += [(a - 1, b) for a, b in aims(step.text, start, end)]
        if text[-1] == "." and not _CLOSED.search(text[:-1]) and len(text.split()) <= _LONG:
            found.append((end - 1, end - 1))
    return found
