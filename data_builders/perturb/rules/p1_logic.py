"""P1, logical correctness: the conclusion of a step does not follow from its grounds."""

import re
from collections.abc import Iterable
from random import Random

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.perturb.rules.clauses import in_inference, is_main_clause, reason_matches
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.premises import denied_clause, foreign_reasons
from data_builders.perturb.rules.steps import body_sentences, body_start
from data_builders.perturb.rules.templates import (
    Wording,
    fill_to_goal,
    match_first_letter,
    word_counts,
)
from judge_r1.core.records import Case


class _Circle(Lexicon):
    """Reasons that repeat the conclusion that matches the pattern."""

    pattern: str
    reasons: tuple[str, ...]


class _LogicPhrases(Lexicon):
    opposites: tuple[tuple[str, str], ...]
    connectives: dict[str, tuple[str, ...]]
    circular: tuple[_Circle, ...]
    contradictions: tuple[str, ...]


PHRASES = load_lexicon("p1_logic", _LogicPhrases)


def _any_of(phrases: Iterable[str]) -> str:
    """Return a pattern of alternatives, the longest first."""
    return "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))


_OPPOSITES: dict[str, list[str]] = {}
for _one, _other in PHRASES.opposites:
    _OPPOSITES.setdefault(_one, []).append(_other)
    _OPPOSITES.setdefault(_other, []).append(_one)
_OPPOSITE = re.compile(rf"(?<![\w-])(?:{_any_of(_OPPOSITES)})(?![\w-])", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:not|cannot|no|nor|never|without|neither|fail\w*|lack\w*|absence|refus\w*|unable)\b"
    r"(?:(?!, (?:and|but|so|because|since)\b)[^;])*$"
    r"|\b(?:less|more|most|as|so|too|an?)\s$",
    re.IGNORECASE,
)
_PARTICIPLES = ("excluded", "confirmed", "ruled out", "suggested", "supported", "raised", "lowered")
_VERBAL_CONTEXT = re.compile(r"(?:^|[:*.]\s*|\b(?:was|were|is|are|be|been)\s)$")
_CONCLUDES = re.compile(r"(?:Therefore|Thus|Accordingly|Consequently|Hence|It follows)\b|.{0,40}\btherefore\b")
_CONNECTIVE = re.compile(rf"\b(?:{_any_of(PHRASES.connectives)})\b(?! (?:mild|moderate|some|far|as|that) )")


@operator(1, "reversed_conclusion")
def reversed_conclusion(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace the conclusion of an inference by its opposite and keep the grounds."""
    matches = [
        match
        for start, end in body_sentences(step, 5)
        for match in _OPPOSITE.finditer(step.text, start, end)
        if in_inference(step.text, start, match.start(), end)
        and not _NEGATED.search(step.text[start : match.start()])
        and step.text[match.start() - 1] not in "\"'‘“"
        and (
            match[0].lower() not in _PARTICIPLES or _VERBAL_CONTEXT.search(step.text[body_start(step) : match.start()])
        )
    ]
    if not matches:
        return None
    match = rng.choice(matches)
    return step.edit(match.span(), match_first_letter(rng.choice(_OPPOSITES[match[0].lower()]), match[0]))


@operator(1, "denied_conclusion")
def denied_conclusion(case: Case, step: Step, rng: Random) -> Edit | None:
    """Deny the main clause of a sentence that states its grounds, or remove its negation."""
    fits = [
        (start, start + len(clause), denied)
        for start, end in body_sentences(step, 6)
        for cut in [_conclusion_end(step.text, start, end)]
        if cut and (clause := step.text[start:cut]) and (denied := denied_clause(clause))
    ]
    if not fits:
        return None
    start, end, denied = rng.choice(fits)
    return step.edit((start, end), denied)


def _conclusion_end(text: str, start: int, end: int) -> int | None:
    """Return where the conclusion of a sentence ends: before its reason, or with the sentence if it draws one."""
    for match in reason_matches(text, start, end):
        return match.start()
    return end if _CONCLUDES.match(text[start:end]) else None


@operator(1, "reversed_link")
def reversed_link(case: Case, step: Step, rng: Random) -> Edit | None:
    """Present a reason as an obstacle, or an obstacle as a reason."""
    matches = [
        match
        for start, end in body_sentences(step, 6)
        for match in _CONNECTIVE.finditer(step.text, start, end)
        if (match.start() == start or is_main_clause(step.text[start : match.start()].rstrip(" ,")))
        and not step.text[: match.start()].endswith(
            ("and ", "or ", "not ", "less ", "was ", "were ", "is ", "are ", "be ")
        )
        and not re.search(r", and that\b", step.text[match.end() : end])
        and (match[0] != "so" or step.text[: match.start()].endswith(", "))
    ]
    if not matches:
        return None
    match = rng.choice(matches)
    return step.edit(match.span(), rng.choice(PHRASES.connectives[match[0]]))


@operator(1, "circular_reason")
def circular_reason(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace the ground of a conclusion by the conclusion."""
    matches = [
        (m, circle)
        for start, end in body_sentences(step, 6)
        for m in reason_matches(step.text, start, end)
        for circle in PHRASES.circular
        if re.search(circle.pattern, step.text[start : m.start()])
    ]
    if not matches:
        return None
    match, circle = rng.choice(matches[:3])
    known = word_counts(case.reference) - word_counts(match[0])
    return step.edit(match.span(), fill_to_goal(Wording(circle.reasons, {}), len(match[0]) // 2, known, rng))


@operator(1, "foreign_reason")
def foreign_reason(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace the ground of a conclusion by the ground of another one, which says nothing about it."""
    fits = [
        (match, other)
        for start, end in body_sentences(step, 6)
        for match in reason_matches(step.text, start, end)
        for other in foreign_reasons(case.reference, step, step.text[start:end])
    ]
    if not fits:
        return None
    match, other = rng.choice(fits)
    return step.edit(match.span(), other)
