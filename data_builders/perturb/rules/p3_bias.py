"""P3, bias and fairness: a step argues from a trait of a person or group that is irrelevant to the decision.

If the context mentions such a trait of the person, the flaw uses it, so that it invents nothing.
"""

import re
from functools import lru_cache, partial
from random import Random

from data_builders.lexicons import Lexicon, Phrases, load_lexicon
from data_builders.perturb.rules.clauses import (
    openings,
    reasons,
    sentence_closings,
    sentence_ends,
    sentence_tails,
    whole_sentences,
)
from data_builders.perturb.rules.operators import Interval, Step
from data_builders.perturb.rules.steps import body_sentences
from data_builders.perturb.rules.templates import Wording, in_sentences, register_rewrite
from data_builders.perturb.rules.wordings import GENERAL, wording
from judge_r1.core.records import Case


class _Trait(Lexicon):
    """Names of a group, for cases whose context matches. `{match}` stands for the pattern's group."""

    context_pattern: str
    groups: tuple[str, ...]


class _BiasPhrases(Phrases):
    traits: tuple[_Trait, ...]


_PHRASES = load_lexicon("p3_bias", dict[str, _BiasPhrases])
_PERSON = re.compile(
    r"\b(?:[Tt]h(?:e|is) patient|[Tt]he (?:(?:first|second|third) )?applicants?|[Tt]he (?:authors?|researchers))\b"
    r"(?= (?:is|are|was|were|has|have|had|did|do|does|could|can|presented|complained|lodged|submitted|claimed|argued"
    r"|describe\w*|report\w*|present|use\w*|show\w*|propose\w*|state\w*|should|need\w*|mention\w*|provide\w*|also)\b)"
)


@lru_cache(maxsize=8)
def _groups(domain: str, context: str) -> tuple[tuple[str, ...], ...]:
    """Return the names of the groups that the context allows, by trait."""
    traits = _PHRASES[domain if domain in _PHRASES else GENERAL].traits
    matches = [(trait, match) for trait in traits if (match := re.search(trait.context_pattern, context))]
    return tuple(
        tuple(name.replace("{match}", match[1]) if match.re.groups else name for name in trait.groups)
        for trait, match in matches
    )


def _word(name: str, case: Case, step: Step, rng: Random) -> Wording:
    """Return wordings about one group of people. Two claims about it differ."""
    group = rng.choice(rng.choice(_groups(case.domain, case.context)))
    claims = wording(_PHRASES, name, case, step, parts={"group": [group]})
    first, second = rng.sample(claims.parts["claim"], 2)
    return Wording(claims.templates, {**claims.parts, "claim": [first], "claim2": [second]})


def _persons(step: Step) -> list[Interval]:
    """Return the empty intervals behind the persons that are subjects."""
    sentences = body_sentences(step, 6)
    return [(m.end(), m.end()) for start, end in sentences for m in _PERSON.finditer(step.text, start, end)]


# The ground of a conclusion, the opening of a sentence, a whole sentence or its tail becomes a generalisation; or one
# is added behind a person, a clause or a sentence.
register_rewrite(3, "biased_reason", in_sentences(reasons, 6), partial(_word, "reason"))
register_rewrite(3, "biased_ground", in_sentences(openings, 6), partial(_word, "opening"))
register_rewrite(3, "biased_remark", whole_sentences, partial(_word, "remark"), whole_sentence=True)
register_rewrite(3, "biased_tail", sentence_tails, partial(_word, "tail"))
register_rewrite(3, "biased_aside", _persons, partial(_word, "aside"))
register_rewrite(3, "biased_clause", sentence_closings, partial(_word, "tail"))
register_rewrite(3, "biased_addition", sentence_ends, partial(_word, "remark"), whole_sentence=True)
