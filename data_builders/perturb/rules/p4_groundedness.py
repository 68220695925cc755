"""P4, groundedness: a detail of the case is replaced by a detail of the same kind that the case never mentions.

Both reasonings have a detail of the same form, so only the case shows which one is invented.
"""

import re
from collections.abc import Callable
from functools import partial
from random import Random

from data_builders.perturb.rules.balanced_swap import SwapClass, corpus_name, swap_term
from data_builders.perturb.rules.claims import absent_from, factual_terms, keeps_vocabulary_size
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.steps import body_start
from data_builders.perturb.rules.text_match import contains, occurrences
from data_builders.perturb.rules.word_classes import INVENTED
from judge_r1.core.records import Case

MAX_MENTIONS = 12
"""A term that the context mentions more often is its subject, not a detail."""


def _register(name: str, groups: dict[str, str]) -> None:
    """Register an operator on one group of classes per domain. Other domains use the classes of all these groups."""

    @operator(4, name)
    def invent(case: Case, step: Step, rng: Random) -> Edit | None:
        known = {case.domain: groups[case.domain]} if case.domain in groups else groups
        classes = [swap_class for domain, group in known.items() for swap_class in INVENTED[domain][group]]
        terms = factual_terms(case, step, classes)
        is_absent = absent_from(case)
        for found, _ in rng.sample(terms, len(terms)):
            old = step.text[found.start : found.end]
            if 0 < len(occurrences(case.context, old)) <= MAX_MENTIONS:
                fits = partial(_can_be_invented, case, is_absent, old)
                if (new := swap_term(found, case, step.text, fits, rng)) is not None:
                    return step.edit((found.start, found.end), new)
        return None


def _can_be_invented(case: Case, is_absent: Callable[[str], bool], old: str, new: str) -> bool:
    return keeps_vocabulary_size(case, old, new) and is_absent(new)


_register("invented_finding", {"medical": "finding", "legal": "document", "academic": "result"})
_register("invented_source", {"medical": "investigation", "legal": "body", "academic": "method"})
_register("invented_subject", {"medical": "disease or treatment", "legal": "person or act", "academic": "material"})
_register("invented_quality", {"medical": "quality", "legal": "quality", "academic": "quality"})

EXHIBITS = SwapClass.of("exhibit", ("Figure", "Table"), right=r"\s+\d+\b(?!\.\d)")


@operator(4, "invented_exhibit")
def invented_exhibit(case: Case, step: Step, rng: Random) -> Edit | None:
    """Cite `Table 2` of a paper that has a Figure 2 but no such table, or the reverse."""
    exhibits = list(EXHIBITS.find(step.text, body_start(step), len(step.text)))
    for found in rng.sample(exhibits, len(exhibits)):
        number = re.match(r"\s+\d+", step.text[found.end :])[0]  # type: ignore[index]  # the slot requires a number
        if not found.plural and contains(case.context, found.term.text + number):
            fits = partial(_is_missing, case, number, found.term.text)
            new = found.swap_class.swap(found, corpus_name(case), fits, "", rng)
            if new is not None:
                return step.edit((found.start, found.end + len(number)), new + number)
    return None


def _is_missing(case: Case, number: str, old: str, kind: str) -> bool:
    return keeps_vocabulary_size(case, old, kind) and not contains(case.context, kind + number)
