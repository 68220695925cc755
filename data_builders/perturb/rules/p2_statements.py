"""P2, factual consistency: a statement of the case is negated, or two values of it change places."""

import re
from random import Random

from data_builders.perturb.rules.claims import claimed_terms, claims
from data_builders.perturb.rules.evidence import find_evidence, words_near
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.text_match import occurrences
from data_builders.perturb.rules.word_classes import ATTRIBUTES, CASE_TERMS, classes_for
from judge_r1.core.records import Case, Span

_AUXILIARY = r"(?:was|were|is|are|had|has|have|did|does|do|been|could)"
_DENIED = re.compile(rf"\b(?P<verb>{_AUXILIARY}) not (?P<rest>(?:been )?[a-z]{{4,}})\b")
_STATED = re.compile(
    r"\b(?P<verb>was|were|is|are|had|has|have) (?!not\b|no\b|never\b)"
    r"(?P<rest>(?:been )?[a-z]{4,}(?:ed|en|wn|nd|ade|eld|ught|ble|ent))\b"
)
_NO = re.compile(r"\b(?:no|not|never|neither|nor|without|only|n['’]t)\b", re.IGNORECASE)


@operator(2, "negated")
def negated(case: Case, step: Step, rng: Random) -> Edit | None:
    """Add `not` to a statement of the case, or remove it: `was (not) heard`."""
    found = [
        (match, claim.sentence)
        for claim in claims(case, step)
        for pattern in (_DENIED, _STATED)
        for match in pattern.finditer(step.text, claim.start, claim.end)
    ]
    for match, sentence in rng.sample(found, len(found)):
        verb = re.sub(r"^been ", "", match["rest"])
        start = match.end() - len(verb)
        evidence = find_evidence(case, step.text, (start, match.end()), sentence)
        is_denial = match.re is _DENIED
        if is_denial and match["verb"] in ("did", "does", "do", "could"):
            continue
        if evidence is None:
            continue
        if not is_denial and _NO.search(step.text, sentence[0], match.end()):
            continue
        spans = [_phrase(case.context, span) for span in evidence.spans]
        same = [span for span in spans if bool(_NO.search(case.context, span.start, span.end)) == is_denial]
        if same and len(same) == len(spans):
            new = f"{match['verb']} {'' if is_denial else 'not '}{match['rest']}"
            return step.edit(match.span(), new, *same)
    return None


def _phrase(context: str, verb: Span) -> Span:
    """Extend a verb to the four words before it, in which its negation stands."""
    before = re.search(r"(?:[^\s.;:]+\s+){0,4}$", context[max(0, verb.start - 80) : verb.start])
    return Span(start=verb.start - len(before[0]) if before else verb.start, end=verb.end)


@operator(2, "exchanged")
def exchanged(case: Case, step: Step, rng: Random) -> Edit | None:
    """Let two values of one kind change places in a sentence, where the context has each beside its own anchor."""
    classes = [*classes_for(case.domain, ATTRIBUTES), *classes_for(case.domain, CASE_TERMS)]
    terms = claimed_terms(case, step, classes)
    twins = [
        (one, other, sentence)
        for one, sentence in terms
        for other, other_sentence in terms
        if one.end < other.start
        and sentence == other_sentence
        and one.swap_class is other.swap_class
        and one.plural == other.plural
        and one.term != other.term
    ]
    for one, other, sentence in rng.sample(twins, len(twins)):
        first, second = step.text[one.start : one.end], step.text[other.start : other.end]
        evidence = [find_evidence(case, step.text, (t.start, t.end), sentence, reach=3) for t in (one, other)]
        own, others = (e.anchors if e else frozenset() for e in evidence)
        if not own - others or not others - own or first[0].isupper() != second[0].isupper():
            continue
        if (first[0] in "aeiou") != (second[0] in "aeiou"):
            continue
        if _stated(case.context, first, others - own) or _stated(case.context, second, own - others):
            continue
        text = second + step.text[one.end : other.start] + first
        spans = [span for e in evidence if e for span in e.spans]
        return step.edit((one.start, other.end), text, *spans)
    return None


def _stated(context: str, value: str, anchors: frozenset[str]) -> bool:
    return any(anchors.intersection(words_near(context, span.start)) for span in occurrences(context, value))
