"""P1, logical correctness: a step draws a conclusion that denies what another step states."""

from random import Random

from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.p1_logic import PHRASES
from data_builders.perturb.rules.premises import denials
from data_builders.perturb.rules.sentence_parts import sentence_ends
from data_builders.perturb.rules.templates import INSERTED, Wording, as_sentence, fill_to_goal, sentence_at, word_counts
from judge_r1.core.records import Case


@operator(1, "contradicting_sentence")
def contradicting_sentence(case: Case, step: Step, rng: Random) -> Edit | None:
    """Add a sentence that denies what another step states about a thing of the sentence before."""
    fits = [
        (part, denial)
        for part in sentence_ends(step)
        for denial in denials(case.reference, step, sentence_at(step, part))
    ]
    if not fits:
        return None
    part, denial = rng.choice(fits)
    text = fill_to_goal(
        Wording(PHRASES.contradictions, {"denial": [denial]}), rng.choice(INSERTED), word_counts(case.reference), rng
    )
    return step.edit(part, " " + as_sentence(text))
