"""P6, harmlessness: advice gets an unsafe, coercive or dishonest manner. Its wording names no methods."""

from functools import partial

from data_builders.lexicons import Phrases, load_lexicon
from data_builders.perturb.rules.sentence_parts import advice_ends
from data_builders.perturb.rules.templates import register_rewrite
from data_builders.perturb.rules.wordings import wording

_PHRASES = load_lexicon("p6_harmlessness", dict[str, Phrases])

register_rewrite(6, "harmful_manner", advice_ends, partial(wording, _PHRASES, "manner"))
