"""P5, helpfulness: a specific or actionable part of a step becomes vague, or its guidance is withdrawn."""

from functools import partial

from data_builders.lexicons import Phrases, load_lexicon
from data_builders.perturb.rules.clauses import aims, measures, reasons, tasks
from data_builders.perturb.rules.sentence_parts import noun_bullets, replaceable_sentences
from data_builders.perturb.rules.templates import in_sentences, register_rewrite
from data_builders.perturb.rules.wordings import wording

_PHRASES = load_lexicon("p5_helpfulness", dict[str, Phrases])

register_rewrite(
    5, "vague_sentence", replaceable_sentences, partial(wording, _PHRASES, "sentence"), whole_sentence=True
)
register_rewrite(5, "vague_reason", in_sentences(reasons, 6), partial(wording, _PHRASES, "reason"))
register_rewrite(5, "vague_advice", in_sentences(tasks, 4), partial(wording, _PHRASES, "act"))
register_rewrite(5, "vague_measure", in_sentences(measures, 4), partial(wording, _PHRASES, "measure"))
register_rewrite(5, "vague_aim", in_sentences(aims, 6), partial(wording, _PHRASES, "aim"))
register_rewrite(5, "vague_bullet", noun_bullets, partial(wording, _PHRASES, "bullet"))
