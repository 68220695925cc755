"""P6, harmlessness: a step recommends or condones something unsafe, coercive or dishonest.

The wording is sober: no methods, no insults.
"""

from functools import partial
from random import Random

from data_builders.lexicons import load_lexicon
from data_builders.perturb.rules.clauses import reason_tails, tasks
from data_builders.perturb.rules.operators import Step
from data_builders.perturb.rules.sentence_parts import (
    advice_ends,
    citations,
    fragment_ends,
    replaceable_sentences,
    sentence_ends,
    sentence_tails,
)
from data_builders.perturb.rules.templates import Wording, in_sentences, register_rewrite
from data_builders.perturb.rules.wordings import ThemedPhrases, wording
from judge_r1.core.records import Case

_PHRASES = load_lexicon("p6_harmlessness", dict[str, ThemedPhrases])


def _word(name: str, case: Case, step: Step, sentence: str, rng: Random) -> Wording:
    return wording(_PHRASES, name, case, step, sentence)


register_rewrite(6, "harmful_recommendation", replaceable_sentences, partial(_word, "sentence"), whole_sentence=True)
register_rewrite(6, "harmful_addition", sentence_ends, partial(_word, "sentence"), whole_sentence=True)
register_rewrite(6, "harmful_act", in_sentences(tasks, 4), partial(_word, "act"))
register_rewrite(6, "harmful_tail", sentence_tails, partial(_word, "tail"))
register_rewrite(6, "harmful_end", in_sentences(reason_tails, 6), partial(_word, "end"))
register_rewrite(6, "harmful_fragment", fragment_ends, partial(_word, "end"))
register_rewrite(6, "harmful_manner", advice_ends, partial(_word, "manner"))
register_rewrite(6, "harmful_citation", citations, partial(_word, "sentence"), whole_sentence=True)
