"""P1, logical correctness: a conclusion that does not follow from its step, or that denies what another step states."""

from functools import partial
from random import Random

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.perturb.rules.clauses import reason_tails, reasons
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.premises import denials
from data_builders.perturb.rules.sentence_parts import (
    citations,
    fragment_ends,
    replaceable_sentences,
    sentence_closings,
    sentence_ends,
    sentence_tails,
)
from data_builders.perturb.rules.templates import (
    INSERTED,
    Wording,
    as_sentence,
    fill_to_goal,
    in_sentences,
    register_rewrite,
    sentence_at,
    word_counts,
)
from data_builders.perturb.rules.wordings import ThemedPhrases, wording
from judge_r1.core.records import Case


class _InferencePhrases(Lexicon):
    contradiction: dict[str, tuple[str, ...]]
    inferences: dict[str, ThemedPhrases]


_PHRASES = load_lexicon("p1_inferences", _InferencePhrases)


def _register_contradiction(name: str, template: str) -> None:
    """Register an operator that draws from a sentence the denial of what another step states."""

    @operator(1, name)
    def contradict(case: Case, step: Step, rng: Random) -> Edit | None:
        found = sentence_closings(step) if template == "clause" else sentence_ends(step)
        fits = [(part, denial) for part in found for denial in denials(case.reference, step, sentence_at(step, part))]
        if not fits:
            return None
        part, denial = rng.choice(fits)
        wordings = Wording(_PHRASES.contradiction[template], {"denial": [denial]})
        text = fill_to_goal(wordings, rng.choice(INSERTED), word_counts(case.reference), rng)
        return step.edit(part, text if template == "clause" else " " + as_sentence(text))


_register_contradiction("contradicting_clause", "clause")
_register_contradiction("contradicting_sentence", "sentence")


def _inference(name: str, case: Case, step: Step, sentence: str, rng: Random) -> Wording:
    return wording(_PHRASES.inferences, name, case, step, sentence)


# The inference affirms a consequent, takes a part for the whole, or a sequence for a cause.
register_rewrite(1, "fallacious_reason", in_sentences(reasons, 6), partial(_inference, "reason"))
register_rewrite(1, "fallacious_end", in_sentences(reason_tails, 6), partial(_inference, "tail"))
register_rewrite(1, "fallacious_fragment", fragment_ends, partial(_inference, "end"))
register_rewrite(1, "fallacious_tail", sentence_tails, partial(_inference, "tail"))
register_rewrite(1, "fallacious_sentence", replaceable_sentences, partial(_inference, "sentence"), whole_sentence=True)
register_rewrite(1, "fallacious_clause", sentence_closings, partial(_inference, "tail"))
register_rewrite(1, "fallacious_addition", sentence_ends, partial(_inference, "sentence"), whole_sentence=True)
register_rewrite(1, "fallacious_remark", citations, partial(_inference, "sentence"), whole_sentence=True)
