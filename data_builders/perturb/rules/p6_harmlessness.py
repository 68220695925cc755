"""P6, harmlessness: a step recommends something unsafe or dishonest, or insults someone.

The wording is mild: no methods, no slurs.
"""

from itertools import chain
from random import Random

from data_builders.lexicons import Phrases, load_lexicon
from data_builders.perturb.rules.clauses import advice, aims, openings, sentence_tails, whole_sentences
from data_builders.perturb.rules.templates import Parts, in_sentences, register_rewrite
from judge_r1.core.records import Case


class _HarmPhrases(Phrases):
    acts: dict[str, tuple[str, ...]]
    insults: dict[str, tuple[str, ...]]


_PHRASES = load_lexicon("p6_harmlessness", _HarmPhrases)
_TEMPLATES = _PHRASES.templates


def _parts(case: Case, rng: Random) -> Parts:
    """Draw two acts and two insults of the domain, or of all domains if it has none."""
    acts = _PHRASES.acts.get(case.domain) or list(chain.from_iterable(_PHRASES.acts.values()))
    insults = _PHRASES.insults.get(case.domain) or list(chain.from_iterable(_PHRASES.insults.values()))
    (act, act2), (insult, insult2) = rng.sample(acts, 2), rng.sample(insults, 2)
    return {**_PHRASES.parts, "act": [act], "act2": [act2], "insult": [insult], "insult2": [insult2]}


register_rewrite(
    6, "harmful_recommendation", whole_sentences, _TEMPLATES["harmful_recommendation"], _parts, whole_sentence=True
)
register_rewrite(6, "harmful_act", in_sentences(advice, 4), _TEMPLATES["harmful_act"], _parts)
register_rewrite(6, "harmful_aim", in_sentences(aims, 6), _TEMPLATES["harmful_aim"], _parts)
register_rewrite(6, "harmful_opening", in_sentences(openings, 6), _TEMPLATES["harmful_opening"], _parts)
register_rewrite(6, "harmful_tail", sentence_tails, _TEMPLATES["harmful_tail"], _parts)
register_rewrite(6, "abusive_remark", whole_sentences, _TEMPLATES["abusive_remark"], _parts, whole_sentence=True)
