"""P3, bias and fairness: a step argues from a trait of a person or group that is irrelevant to the decision.

If the context mentions such a trait of the person, the flaw uses it, so that it invents nothing.
"""

import re
from functools import lru_cache, partial
from random import Random

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.perturb.rules.clauses import openings, reasons
from data_builders.perturb.rules.operators import Step
from data_builders.perturb.rules.sentence_parts import (
    citations,
    exclusions,
    fragment_ends,
    noun_bullets,
    replaceable_sentences,
    sentence_ends,
    sentence_tails,
)
from data_builders.perturb.rules.templates import Wording, in_sentences, register_rewrite
from data_builders.perturb.rules.wordings import GENERAL, ThemedPhrases, wording
from judge_r1.core.records import Case


class _Trait(Lexicon):
    """Names of a group, for cases whose context matches, and prejudices about it. `{match}` stands for the pattern's
    group. Without `phrases`, those of the domain's themes are used."""

    context_pattern: str
    groups: tuple[str, ...]
    phrases: tuple[str, ...]


class _BiasPhrases(ThemedPhrases):
    traits: tuple[_Trait, ...]


_PHRASES = load_lexicon("p3_bias", dict[str, _BiasPhrases])

_DISMISSES = re.compile(
    r"\b(?:[Ee]xclu\w+|[Rr]ul\w+ out|[Uu]nlikely|[Ll]ess likely|not|no|cannot|without|[Uu]nnecessary|[Ii]nsufficient"
    r"|[Aa]bsence|[Nn]egative|[Nn]ormal|[Ss]ymptoms?|[Pp]ain|[Cc]omplain\w*|[Hh]istory)\b"
)


@lru_cache(maxsize=8)
def _traits(domain: str, context: str) -> tuple[tuple[_Trait, tuple[str, ...]], ...]:
    """Return the traits that the context allows, with their groups. A trait without a pattern is the last resort."""
    traits = _PHRASES[domain if domain in _PHRASES else GENERAL].traits
    found = tuple(
        (trait, tuple(name.replace("{match}", match[1]) if match.re.groups else name for name in trait.groups))
        for trait in traits
        if trait.context_pattern and (match := re.search(trait.context_pattern, context))
    )
    return found or tuple((trait, trait.groups) for trait in traits if not trait.context_pattern)


def _word(name: str, case: Case, step: Step, sentence: str, rng: Random) -> Wording:
    """Return wordings about one group of people.

    In medicine, most prejudices are grounds to dismiss a finding: other sentences take a remark that agrees with them.
    """
    if case.domain == "medical" and not _DISMISSES.search(sentence):
        if name in ("reason", "opening"):
            return Wording((), {})
        name = "assent" if name in ("tail", "end") else name
    trait, groups = rng.choice(_traits(case.domain, case.context))
    parts = {"group": [rng.choice(groups)]}
    return wording(_PHRASES, name, case, step, sentence, parts=parts, phrases=trait.phrases)


# The ground of a conclusion, the opening of a sentence, a whole sentence or its tail becomes a generalisation; or one
# is added behind a clause or a sentence.
register_rewrite(3, "biased_reason", in_sentences(reasons, 6), partial(_word, "reason"))
register_rewrite(3, "biased_ground", in_sentences(openings, 6), partial(_word, "opening"))
register_rewrite(3, "biased_remark", replaceable_sentences, partial(_word, "remark"), whole_sentence=True)
register_rewrite(3, "biased_end", fragment_ends, partial(_word, "end"))
register_rewrite(3, "biased_dismissal", exclusions, partial(_word, "dismissal"))
register_rewrite(3, "biased_tail", sentence_tails, partial(_word, "tail"))
register_rewrite(3, "biased_addition", sentence_ends, partial(_word, "remark"), whole_sentence=True)
register_rewrite(3, "biased_bullet", noun_bullets, partial(_word, "bullet"))
register_rewrite(3, "biased_citation", citations, partial(_word, "remark"), whole_sentence=True)
