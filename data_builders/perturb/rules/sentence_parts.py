"""Finds where operators replace or add text in a step: whole sentences, their ends, and the fragments of a list."""

import re
from collections.abc import Iterator

from data_builders.perturb.rules.clauses import ACTION_VERBS, FINITE, aims, is_balanced, is_main_clause
from data_builders.perturb.rules.operators import Interval, Step
from data_builders.perturb.rules.steps import MARKER, body_sentences

_CLOSED = re.compile(r"[.)\]”\"’]$|\betc$|\b(?:if|unless|, who|, which|, because|, since)\b[^,]*$")
_FRAGMENT = re.compile(
    r"(?:(?:Initially|Strongly|Also|Less) )?(?:Excluded|Ruled out|Considered|Suspected|Less likely|Unlikely|Supported"
    r"|Confirmed|Suggested|Favored|Preferred|Chosen)\b"
)
_FRAGMENT_END = re.compile(
    r" (?:by|with|through|via|after|due|based|because|as|given|on|following|from|since|for|in view)\b"
)
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
_APPOSITION = re.compile(r", (?:which|where|who)\b.*,|, (?:but|so) (?:not|that|far|as|rather)\b")
_TAIL_START = re.compile(
    r", (?=(?:which|while|whereas|although|though|because|since|thereby|thus|so|but|with|without|given|especially"
    r"|particularly|where|unless|despite|[a-z]{3,}ing)\b)"
)
_DEPENDENT = re.compile(
    r"[\"'“‘(\[*]*(?:It|This|These|Those|That|They|He|She|His|Her|Their|Its|Such|Both|Here|There|Then|However|But"
    r"|Nevertheless|Moreover|Furthermore|Also|In (?:addition|particular|this|that|such|these|contrast)|Thus|Therefore"
    r"|Hence|Accordingly|Consequently|Otherwise|Instead|Similarly|Likewise|The (?:latter|former|same|other|second)|So"
    r"|And|Or|Yet|For (?:example|instance|this|that)|Nor|Neither|Indeed|Another|Others?|As (?:a|such)|On the (?:other"
    r"|contrary)|Some|Again|Even|Finally|Secondly?|Thirdly?|Rather|Still|Similar)\b"
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
        if not has_dependent(step, end)
        and not step.text[:start].rstrip(" *\n").endswith((":", "–", "—"))
        and _is_statement(step.text[start:end])
    ]


def _is_statement(text: str) -> bool:
    """Whether the text has a finite verb and is no order or aim such as `Reduce the dose.`"""
    return FINITE.search(text) is not None and text.split(" ", 1)[0].lower() not in ACTION_VERBS


def has_dependent(step: Step, end: int) -> bool:
    return _DEPENDENT.match(step.text[end:].lstrip()) is not None


def sentence_ends(step: Step) -> list[Interval]:
    """Return the empty intervals behind whole sentences, where a sentence can be added."""
    return [
        (end, end)
        for start, end in whole_sentences(step)
        if not has_dependent(step, end) and _is_statement(step.text[start:end])
        # A sentence behind a step of one sentence may belong to the next step.
        if end < len(step.text) or len(body_sentences(step, 1)) > 1
    ]


def sentence_closings(step: Step) -> list[Interval]:
    """Return the empty intervals before the full stops of whole statements, where a clause can be added."""
    return [
        (end - 1, end - 1)
        for start, end in whole_sentences(step, max_words=35)
        if step.text[end - 1] == "."
        and not _CLOSED.search(step.text[start : end - 1])
        and FINITE.search(step.text[start:end])
    ]


def exclusions(step: Step) -> list[Interval]:
    """Return the fragments that say why an alternative was excluded or considered, without the full stop."""
    return [
        (start, end - (step.text[end - 1] == "."))
        for start, end in body_sentences(step, 4)
        if _FRAGMENT.match(step.text, start) and is_balanced(step.text[start:end]) and not has_dependent(step, end)
    ]


def fragment_ends(step: Step) -> list[Interval]:
    """Return what follows the participle of a fragment such as `Excluded by …`, without the full stop."""
    return [
        (start + match.end(), end - (step.text[end - 1] == "."))
        for start, end in body_sentences(step, 4)
        if (match := _FRAGMENT.match(step.text[start:end]))
        and _FRAGMENT_END.match(step.text[start:end], match.end())
        and is_balanced(step.text[start:end])
        and not has_dependent(step, end)
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


def sentence_tails(step: Step) -> list[Interval]:
    """Return, for whole sentences of at least 12 words, the text from a comma in the middle to the full stop."""
    return [tail for start, end in whole_sentences(step, 12) for tail in _tails(step.text, start, end)]


def _tails(text: str, start: int, end: int) -> Iterator[Interval]:
    for match in _TAIL_START.finditer(text[start:end]):
        comma = start + match.start()
        tail = text[comma : end - 1]
        if (
            0.3 < match.start() / (end - start) < 0.85
            and len(re.split(r"[;,]", text[start:comma])[-1].split()) > 3
            and is_main_clause(text[start:comma])
            and is_balanced(tail)
            and not _APPOSITION.match(tail)
            and len(tail.split()) >= 4
        ):
            yield comma, end - 1


def citations(step: Step) -> list[Interval]:
    """Return the sentences that cite a fact."""
    return [citation.whole for citation in step.citations]
