"""P1, logical correctness: a step does not follow from the steps before it, or contradicts one of them."""

import re
from collections.abc import Iterable
from random import Random

from data_builders.lexicons import Phrases, load_lexicon
from data_builders.perturb.rules.clauses import is_balanced, reason_matches
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.steps import body_sentences, body_start, split_steps
from data_builders.perturb.rules.templates import fill, fill_to_length, match_first_letter
from judge_r1.core.records import Case


class _LogicPhrases(Phrases):
    opposites: tuple[tuple[str, str], ...]
    hedges: dict[str, str]
    connectives: dict[str, tuple[str, ...]]


_PHRASES = load_lexicon("p1_logic", _LogicPhrases)


def _any_of(phrases: Iterable[str]) -> str:
    """Return a pattern of alternatives, the longest first."""
    return "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))


_OPPOSITES: dict[str, list[str]] = {}
for _one, _other in _PHRASES.opposites:
    _OPPOSITES.setdefault(_one, []).append(_other)
    _OPPOSITES.setdefault(_other, []).append(_one)
_OPPOSITE = re.compile(rf"(?<![\w-])(?:{_any_of(_OPPOSITES)})(?![\w-])", re.IGNORECASE)
_INFERENCE = re.compile(
    r"\b(due to|because|since|given|therefore|thus|hence|accordingly|consequently|so|as|based on|suggest\w*"
    r"|indicat\w*|support\w*"
    r"|follows?|confirm\w*|despite|although|in view of|in light of|having regard|conclu\w+|finds?|considers?"
    r"|for this reason)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    rf"(?<![\w-])(?:{_any_of(_PHRASES.hedges)})(?![\w-]|\s+(?:not|possibly|perhaps|only|also|have|even)\b)"
)
_NEGATED = re.compile(
    r"\b(?:not|cannot|no|nor|never|without|neither|fail\w*|lack\w*|absence|refus\w*|unable)\b[^,;]*$"
    r"|\b(?:less|more|most|as|an?)\s$",
    re.IGNORECASE,
)
_PARTICIPLES = ("excluded", "confirmed", "ruled out", "suggested", "supported")
_VERBAL_CONTEXT = re.compile(r"(?:^|[:*.]\s*|\b(?:was|were|is|are|be|been|and|or|then|later)\s)$")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|should|would|must|will|did|does)( not)?\b(?! (?:been )?no\b)"
    r"|\b(cannot)\b"
)
_DEPENDENT_CLAUSE = re.compile(
    r"^(?:But|And|However|So|Or)\b|[\n(,]"
    r"|\b(?:how|whether|if|when|where|what|why|because|since|although|while|who|which|as)\b"
)
_CONNECTIVE = re.compile(
    rf"\b(?:{'|'.join(sorted(_PHRASES.connectives, key=len, reverse=True))})\b(?! (?:mild|moderate|some) )"
)


def _choose(matches: list[re.Match[str]], rng: Random) -> re.Match[str] | None:
    return rng.choice(matches) if matches else None


@operator(1, "reversed_conclusion")
def reversed_conclusion(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace the conclusion of an inference by its opposite and keep the grounds."""
    matches = [
        match
        for start, end in body_sentences(step, 5)
        if _INFERENCE.search(step.text, start, end)
        for match in _OPPOSITE.finditer(step.text, start, end)
        if not _NEGATED.search(step.text[start : match.start()])
        and step.text[match.start() - 1] not in "\"'‘“"
        and (
            match[0].lower() not in _PARTICIPLES or _VERBAL_CONTEXT.search(step.text[body_start(step) : match.start()])
        )
    ]
    match = _choose(matches, rng)
    if match is None:
        return None
    return step.edit(match.span(), match_first_letter(rng.choice(_OPPOSITES[match[0].lower()]), match[0]))


@operator(1, "wrong_connective")
def wrong_connective(case: Case, step: Step, rng: Random) -> Edit | None:
    """Present a reason as an obstacle, or an obstacle as a reason."""
    matches = [m for start, end in body_sentences(step, 6) for m in _CONNECTIVE.finditer(step.text, start, end)]
    match = _choose([m for m in matches if not step.text[: m.start()].endswith(("and ", "or ", "not ", "less "))], rng)
    return step.edit(match.span(), rng.choice(_PHRASES.connectives[match[0]])) if match else None


@operator(1, "overreach")
def overreach(case: Case, step: Step, rng: Random) -> Edit | None:
    """State as certain or universal what the grounds make likely or show for some."""
    matches = [m for start, end in body_sentences(step, 6) for m in _HEDGE.finditer(step.text, start, end)]
    match = _choose(
        [m for m in matches if not re.search(r"\b(?:not|the|very|more|an?)\s$", step.text[: m.start()])], rng
    )
    return step.edit(match.span(), _PHRASES.hedges[match[0]]) if match else None


@operator(1, "circular_reason")
def circular_reason(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace the ground of a conclusion by the conclusion."""
    matches = [m for start, end in body_sentences(step, 8) for m in reason_matches(step.text, start, end)]
    match = _choose([m for m in matches if m["link"] not in ("supported by", "suggested by")], rng)
    if match is None:
        return None
    templates = _PHRASES.templates["circular_reason"]
    return step.edit(match.span(), fill_to_length(templates, _PHRASES.parts, len(match[0]), rng))


@operator(1, "contradicts_earlier_step")
def contradicts_earlier_step(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace a sentence by the denial of a sentence of an earlier step."""
    targets = [(a, b) for a, b in body_sentences(step, 8) if step.text[b - 1] == "."]
    denials = [
        denial
        for earlier in split_steps(case.reference)
        if earlier.end <= step.start
        for start, end in body_sentences(earlier, 7)
        if (denial := _denied(earlier.text[start:end]))
    ]
    fits = [(t, d) for t in targets for d in denials if 0.6 * (t[1] - t[0]) <= len(d) <= 1.5 * (t[1] - t[0])]
    if not fits:
        return None
    target, denial = rng.choice(fits)
    lead = fill(_PHRASES.templates["contradiction_lead"], _PHRASES.parts, rng)
    if not re.match(r"(?:The|This|It|In|There|A|An|These|Those|All|Both|His|Her|Their|No) ", denial):
        lead = ""
    return step.edit(target, lead + denial[0].lower() + denial[1:] if lead else denial)


def _denied(sentence: str) -> str | None:
    """Negate the first auxiliary of a sentence, or remove its `not`. None if it has no auxiliary."""
    match = _AUXILIARY.search(sentence)
    if match is None or sentence[-1] != "." or not is_balanced(sentence):
        return None
    if _DEPENDENT_CLAUSE.search(sentence[: match.start()]):
        return None
    new = "can" if match[3] else match[1] if match[2] else f"{match[1]} not"
    return sentence[: match.start()] + new + sentence[match.end() :]
