"""P1, logical correctness: a step that the conclusion needs is reversed."""

import re
from collections.abc import Iterable, Iterator
from random import Random

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.perturb.rules.operators import operator
from data_builders.text_units.clauses import FINITE, in_inference
from data_builders.text_units.edits import Edit
from data_builders.text_units.steps import Step, body_sentences, body_start
from judge_r1.core.records import Case


class _LogicWords(Lexicon):
    opposites: tuple[tuple[str, str], ...]


_WORDS = load_lexicon("p1_logic", _LogicWords)


def _any_of(phrases: Iterable[str]) -> str:
    """Return a pattern of alternatives, the longest first."""
    return "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))


_OPPOSITES: dict[str, list[str]] = {}
for _one, _other in _WORDS.opposites:
    _OPPOSITES.setdefault(_one, []).append(_other)
    _OPPOSITES.setdefault(_other, []).append(_one)
_OPPOSITE = re.compile(rf"(?<![\w-])(?:{_any_of(_OPPOSITES)})(?![\w-])", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:not|cannot|no|nor|never|without|neither|fail\w*|lack\w*|absence|refus\w*|unable|hardly)\b"
    r"(?:(?!, (?:and|but|so|because|since)\b)[^;])*$"
    r"|\b(?:less|more|most|as|so|too|an?|very)\s$",
    re.IGNORECASE,
)
_PREDICATE = re.compile(
    r"(?:^|[:*.]\s*|\b(?:was|were|is|are|be|been|being|seems?|appears?|remains?|deemed|considered|declared|found|proved"
    r"|therefore|thus|accordingly|also|then|more|clearly|highly)\s)$"
)
_VERBS = ("supports", "contradicts", "strengthens", "weakens", "aligns with", "conflicts with", "likely", "unlikely")
"""Opposites that need no verb in front of them."""
_DRAWS = re.compile(
    r"(?:Therefore|Thus|Accordingly|Consequently|Hence|It follows that|There has(?: accordingly| therefore)?)\b"
    r"|.{0,60}\b(?:concludes|holds|therefore finds) that\b|.{0,40}\b(?:therefore|accordingly|thus)\b"
)
"""The openings of sentences that draw a conclusion."""
_AUXILIARY = re.compile(
    r"\b(?P<cannot>cannot)\b|\b(?:(?P<verb>is|are|was|were|can|could|must"
    r"|(?:has|have|had)(?= (?:not )?(?:been|\w+ed|shown|given|taken|made|found|become|begun)\b))(?P<negated> not)?"
    r"|does|did|do)\b"
)
_VIOLATION = re.compile(r"\bbeen (no|a) (?:violation|breach|interference)\b")
_BEFORE_VERB = re.compile(
    r"^(?:But|So|Or|All|Both|Some|Many|Most|No|Neither|Nothing|Nobody|None|Only|Every|Each|Few|Little|If|When|What"
    r"|Although|While|As|Since|Because)\b|[\n(?]"
    r"|\b(?:how|whether|if|when|where|what|why|because|since|although|while|who|which|that|as|no|not|never|neither|only"
    r"|nor)\b",
)
_POLAR = re.compile(
    r"^,|^ un|^ (?:therefore|thus|accordingly|not|no|never|only|also|always|nor|often|usually|already|still|then|both"
    r"|all|mainly|mostly|partly|hardly"
    r"|(?:admitted|certain|clear|evident|apparent|probab|possib|presumab|undoubted|primari|partial|sole|exclusive)ly)\b"
    r"|^ (?:about |approximately )?\d|\b(?:any|either|neither|yet|nor|but|even|until|unless|only|no|none|nothing)\b"
)
MAX_SUBJECT = 14
"""Words between the opening of a conclusion and its verb."""
_NOT_DRAWN = re.compile(
    r"\b(?:but|although|though|while|whereas|however|despite|notwithstanding|whether)\b"
    r"|\b(?:claim|argu|submit|maintain|contend|alleg|complain|assert)(?:t?ed|e?s)\b",
    re.IGNORECASE,
)
"""What precedes a conclusion that a contrast needs, that is open, or that a party draws."""
_TELLING = re.compile(
    r"\b(?:no|not|non|nor|lack\w*|absen\w+|without|free|normal|negativ\w+|unremarkable|unusual|uncommon|rare\w*|atypical"
    r"|inconsistent|fail\w*|despite|low|incompatible|less|never|different|benign)\b|[(]",
    re.IGNORECASE,
)
"""Grounds that show without the case that they speak against what they follow."""


@operator(1, "reversed_conclusion")
def reversed_conclusion(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Replace the conclusion of an inference by its opposite and keep the grounds."""
    for start, end in body_sentences(step, 5):
        for match in _OPPOSITE.finditer(step.text, start, end):
            word, before = match[0].lower(), step.text[start : match.start()]
            fits = word in _VERBS or _PREDICATE.search(step.text[body_start(step) : match.start()])
            if (
                fits
                and in_inference(step.text, start, match.start(), end)
                and not _NEGATED.search(before)
                and not _NOT_DRAWN.search(before)
            ):
                new = rng.choice(_OPPOSITES[word])
                if "likely" in new and _TELLING.search(step.text, match.end(), end):
                    continue
                yield step.edit(match.span(), new[0].upper() + new[1:] if match[0][0].isupper() else new)


@operator(1, "denied_conclusion")
def denied_conclusion(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Deny the conclusion that a sentence draws, or remove its negation."""
    for start, end in body_sentences(step, 6):
        if (opening := _DRAWS.match(step.text, start, end)) and (edit := _denied(step, opening, start, end)):
            yield edit


def _denied(step: Step, opening: re.Match[str], start: int, end: int) -> Edit | None:
    """Negate the main verb behind the opening, or remove its `not`. None without an auxiliary to do this."""
    if match := _VIOLATION.search(step.text, start, end):
        return step.edit(match.span(1), "no" if match[1] == "a" else "a")
    first = opening.end() if opening[0].endswith("that") else start
    match = _AUXILIARY.search(step.text, first, end)
    before = step.text[first : match.start()] if match else ""
    if (
        match is None
        or _NOT_DRAWN.search(before)
        or _BEFORE_VERB.search(before)
        or FINITE.search(before)
        or len(before.split()) > MAX_SUBJECT
    ):
        return None
    clause = re.split(r"(?<=.)[,;]", step.text[match.end() : end])[0]
    if match["cannot"]:
        return step.edit(match.span(), "can")
    if not match["verb"] or _POLAR.search(clause):
        return None
    if match["negated"]:
        return step.edit(match.span("negated"), "")
    return step.edit((match.end("verb"), match.end("verb")), " not")
