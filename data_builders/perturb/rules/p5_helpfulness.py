"""P5, helpfulness: a specific or actionable part of a step becomes vague, at about the same length."""

import re
from random import Random

from data_builders.lexicons import Phrases, load_lexicon
from data_builders.perturb.rules.clauses import advice, aims, reasons, whole_sentences
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.steps import body_sentences
from data_builders.perturb.rules.templates import Parts, fill_to_length, in_sentences, register_rewrite
from judge_r1.core.records import Case

_PHRASES = load_lexicon("p5_helpfulness", Phrases)
_TEMPLATES = _PHRASES.templates
_EXAMPLES = re.compile(
    r"\((?:e\.g\.|i\.e\.|for example|such as|including|namely)?,? ?[^()\n]{12,}\)"
    r"|(?:such as|including|e\.g\.,?|namely) [^.;:()\n]{14,}?(?=[.;:\n]|$)"
)
_REFERENCE = re.compile(r"\bsee\b|cited above|\bv\. |§")


def _parts(case: Case, rng: Random) -> Parts:
    return _PHRASES.parts


register_rewrite(5, "vague_sentence", whole_sentences, _TEMPLATES["vague_sentence"], _parts, whole_sentence=True)
register_rewrite(5, "vague_reason", in_sentences(reasons, 6), _TEMPLATES["vague_reason"], _parts)
register_rewrite(5, "vague_advice", in_sentences(advice, 4), _TEMPLATES["vague_advice"], _parts)
register_rewrite(5, "vague_aim", in_sentences(aims, 6), _TEMPLATES["vague_aim"], _parts)


@operator(5, "vague_examples")
def vague_examples(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace the details in brackets, or after `such as`, by vague words."""
    matches = [
        match
        for start, end in body_sentences(step, 4)
        for match in _EXAMPLES.finditer(step.text, start, end)
        if re.search(r"[a-z]{4}", match[0]) and not _REFERENCE.search(match[0])
    ]
    if not matches:
        return None
    match = rng.choice(matches)
    text = fill_to_length(_TEMPLATES["vague_examples"], _PHRASES.parts, len(match[0]), rng)
    lead = re.match(r"such as|including|e\.g\.,?|namely", match[0])
    return step.edit(match.span(), f"{lead[0]} {text}" if lead else f"({text})")
