"""P1, logical correctness: a step draws a conclusion that denies what another step states."""

from random import Random

from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.p1_logic import PHRASES
from data_builders.perturb.rules.premises import denials
from data_builders.perturb.rules.sentence_parts import sentence_closings, sentence_ends
from data_builders.perturb.rules.templates import INSERTED, Wording, as_sentence, fill_to_goal, sentence_at, word_counts
from judge_r1.core.records import Case


def _register(name: str, template: str) -> None:
    @operator(1, name)
    def contradict(case: Case, step: Step, rng: Random) -> Edit | None:
        found = sentence_closings(step) if template == "clause" else sentence_ends(step)
        fits = [(part, denial) for part in found for denial in denials(case.reference, step, sentence_at(step, part))]
        if not fits:
            return None
        part, denial = rng.choice(fits)
        wordings = Wording(PHRASES.contradictions[template], {"denial": [denial]})
        text = fill_to_goal(wordings, rng.choice(INSERTED), word_counts(case.reference), rng)
        return step.edit(part, text if template == "clause" else " " + as_sentence(text))


_register("contradicting_clause", "clause")
_register("contradicting_sentence", "sentence")
