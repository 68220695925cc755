"""P5, helpfulness: a specific or actionable part of a step becomes vague, or its guidance is withdrawn."""

import re
from functools import partial
from random import Random

from data_builders.lexicons import load_lexicon
from data_builders.perturb.rules.clauses import aims, measures, reasons, tasks
from data_builders.perturb.rules.operators import Interval, Step
from data_builders.perturb.rules.sentence_parts import (
    citations,
    noun_bullets,
    replaceable_sentences,
    sentence_ends,
    sentence_tails,
)
from data_builders.perturb.rules.steps import body_sentences
from data_builders.perturb.rules.templates import Wording, in_sentences, register_rewrite
from data_builders.perturb.rules.wordings import ThemedPhrases, wording
from judge_r1.core.records import Case

_PHRASES = load_lexicon("p5_helpfulness", dict[str, ThemedPhrases])
_EXAMPLES = re.compile(
    r"\((?:(?:e\.g\.|i\.e\.|for example|such as|including|namely),? )?(?P<bracketed>[^()\n]{12,})\)"
    r"|(?:such as|including|e\.g\.,?|namely) "
    r"(?P<listed>(?!(?:would|is|are|was|were|has|have|in|to|with|by)\b)[^.;:()\n]{14,}?)(?=\.(?!\w)|[;:\n]|$)"
)
_CLAUSE = re.compile(
    r"^(?:no|not|or|and|but|though|although|which|who|that|if|at|by|from|in|as|with|without|only|including)\b"
    r"|\b(?:is|are|was|were|has|had|did|does)\b"
)
_REFERENCE = re.compile(r"\bsee\b|cited above|\bv\. |§|https?:|\bet al\b|\d{4}$")


def _word(name: str, case: Case, step: Step, sentence: str, rng: Random) -> Wording:
    return wording(_PHRASES, name, case, step, sentence)


def _examples(step: Step) -> list[Interval]:
    """Return the details in brackets, or after `such as`."""
    return [
        match.span(match.lastgroup or 0)
        for start, end in body_sentences(step, 4)
        for match in _EXAMPLES.finditer(step.text, start, end)
        if re.search(r"[a-z]{4}", match[0])
        and not _REFERENCE.search(match[0])
        and not _CLAUSE.search(match[match.lastgroup or 0])
    ]


register_rewrite(5, "vague_sentence", replaceable_sentences, partial(_word, "sentence"), whole_sentence=True)
register_rewrite(5, "vague_reason", in_sentences(reasons, 6), partial(_word, "reason"))
register_rewrite(5, "vague_tail", sentence_tails, partial(_word, "tail"))
register_rewrite(5, "vague_advice", in_sentences(tasks, 4), partial(_word, "act"))
register_rewrite(5, "vague_measure", in_sentences(measures, 4), partial(_word, "measure"))
register_rewrite(5, "vague_aim", in_sentences(aims, 6), partial(_word, "aim"))
register_rewrite(5, "vague_retraction", sentence_ends, partial(_word, "retraction"), whole_sentence=True)
register_rewrite(5, "vague_examples", _examples, partial(_word, "examples"))
register_rewrite(5, "vague_bullet", noun_bullets, partial(_word, "bullet"))
register_rewrite(5, "vague_citation", citations, partial(_word, "sentence"), whole_sentence=True)
