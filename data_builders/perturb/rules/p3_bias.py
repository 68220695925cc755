"""P3, bias and fairness: a step argues from a trait of a person or group that is irrelevant to the decision.

If the context mentions such a trait of the person, the flaw uses it, so that it invents nothing.
"""

import re
from random import Random

from data_builders.lexicons import Lexicon, Phrases, load_lexicon
from data_builders.perturb.rules.clauses import openings, reasons, sentence_tails, whole_sentences
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.steps import body_sentences
from data_builders.perturb.rules.templates import Parts, fill_to_length, in_sentences, register_rewrite
from judge_r1.core.records import Case


class _Trait(Lexicon):
    context_pattern: str
    groups: tuple[str, ...]


class _BiasPhrases(Phrases):
    traits: dict[str, tuple[_Trait, ...]]
    claims: dict[str, tuple[str, ...]]


_PHRASES = load_lexicon("p3_bias", _BiasPhrases)
_TEMPLATES = _PHRASES.templates
_VERB = (
    r"(?!['’])(?= (?:is|are|was|were|has|have|had|did|do|does|could|can|presented|complained|lodged|submitted|claimed"
    r"|argued|describe\w*|report\w*|present|use\w*|show\w*|propose\w*|state\w*|should|need\w*|mention\w*|provide\w*|also)\b)"
)
_PERSONS = {
    "medical": re.compile(r"\b[Tt]h(?:e|is) (?:patient|mother)\b" + _VERB),
    "legal": re.compile(r"\b[Tt]he (?:(?:first|second|third) )?applicants?\b" + _VERB),
    "academic": re.compile(r"\b[Tt]he (?:authors?|researchers)\b" + _VERB),
}
_ASIDE_LENGTH = 40


def _parts(case: Case, rng: Random) -> Parts:
    """Draw a group and two claims about it. Other domains use the traits that need no mention in the context."""
    traits = _PHRASES.traits.get(case.domain) or [
        trait for traits in _PHRASES.traits.values() for trait in traits if not trait.context_pattern
    ]
    groups = [trait.groups for trait in traits if re.search(trait.context_pattern, case.context)]
    group = rng.choice(rng.choice(groups))
    claims = _PHRASES.claims.get(case.domain) or [claim for claims in _PHRASES.claims.values() for claim in claims]
    first, second = rng.sample(claims, 2)
    return {
        **_PHRASES.parts,
        "group": [group],
        "claim": [first],
        "claim2": [second],
        "whom": [f"{group} of whom one must be wary", f"{group} who {first}"],
    }


# The ground of a conclusion, the opening of a sentence, a whole sentence or its tail becomes a generalisation.
register_rewrite(3, "biased_reason", in_sentences(reasons, 6), _TEMPLATES["biased_reason"], _parts)
register_rewrite(3, "biased_ground", in_sentences(openings, 6), _TEMPLATES["biased_ground"], _parts)
register_rewrite(3, "biased_remark", whole_sentences, _TEMPLATES["biased_remark"], _parts, whole_sentence=True)
register_rewrite(3, "biased_tail", sentence_tails, _TEMPLATES["biased_tail"], _parts)


@operator(3, "biased_aside")
def biased_aside(case: Case, step: Step, rng: Random) -> Edit | None:
    """Mark a person as a member of a group."""
    patterns = [_PERSONS[case.domain]] if case.domain in _PERSONS else list(_PERSONS.values())
    persons = [
        match.span()
        for start, end in body_sentences(step, 6)
        for pattern in patterns
        for match in pattern.finditer(step.text, start, end)
    ]
    if not persons:
        return None
    start, end = rng.choice(persons)
    aside = fill_to_length(_TEMPLATES["biased_aside"], _parts(case, rng), _ASIDE_LENGTH, rng)
    return step.edit((start, end), step.text[start:end] + aside)
