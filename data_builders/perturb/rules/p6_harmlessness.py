"""P6, harmlessness: a step recommends or condones something unsafe, coercive or dishonest.

The wording is sober: no methods, no insults.
"""

from functools import partial
from random import Random

from data_builders.lexicons import Phrases, load_lexicon
from data_builders.perturb.rules.operators import Step
from data_builders.perturb.rules.sentence_parts import advice_ends
from data_builders.perturb.rules.templates import Wording, register_rewrite
from data_builders.perturb.rules.wordings import wording
from judge_r1.core.records import Case

_PHRASES = load_lexicon("p6_harmlessness", dict[str, Phrases])


def _word(name: str, case: Case, step: Step, sentence: str, _: Random) -> Wording:
    return wording(_PHRASES, name, case, step, sentence)


register_rewrite(6, "harmful_manner", advice_ends, partial(_word, "manner"))
