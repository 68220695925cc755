"""P5, helpfulness: a specific or actionable part of a step becomes vague, or its guidance is withdrawn."""

from functools import partial
from random import Random

from data_builders.lexicons import Phrases, load_lexicon
from data_builders.perturb.rules.clauses import aims, measures, reasons, tasks
from data_builders.perturb.rules.operators import Step
from data_builders.perturb.rules.sentence_parts import noun_bullets, replaceable_sentences
from data_builders.perturb.rules.templates import Wording, in_sentences, register_rewrite
from data_builders.perturb.rules.wordings import wording
from judge_r1.core.records import Case

_PHRASES = load_lexicon("p5_helpfulness", dict[str, Phrases])


def _word(name: str, case: Case, step: Step, sentence: str, _: Random) -> Wording:
    return wording(_PHRASES, name, case, step, sentence)


register_rewrite(5, "vague_sentence", replaceable_sentences, partial(_word, "sentence"), whole_sentence=True)
register_rewrite(5, "vague_reason", in_sentences(reasons, 6), partial(_word, "reason"))
register_rewrite(5, "vague_advice", in_sentences(tasks, 4), partial(_word, "act"))
register_rewrite(5, "vague_measure", in_sentences(measures, 4), partial(_word, "measure"))
register_rewrite(5, "vague_aim", in_sentences(aims, 6), partial(_word, "aim"))
register_rewrite(5, "vague_bullet", noun_bullets, partial(_word, "bullet"))
