"""P4, groundedness: a detail of the case is replaced by one of the same kind of which the case has no word.

Both reasonings hold a detail of the same form; only the case tells that one of them was invented.
"""

import re
from collections.abc import Callable
from functools import partial
from random import Random

from data_builders.perturb.lexicons.terms import INVENTED
from data_builders.perturb.rules.balanced_swap import SwapClass, corpus, in_case_of
from data_builders.perturb.rules.claims import claims, traceless, unmentioned
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.steps import body
from data_builders.perturb.rules.text_match import occurrences, says
from judge_r1.core.records import Case

PASSING = 12
"""What the context names more often than this is its subject, not a detail."""


def _register(name: str, groups: dict[str, str]) -> None:
    """The operator `name`, for each domain with its group of classes; other domains use all of these groups."""

    @operator(4, name)
    def invent(case: Case, step: Step, rng: Random) -> Edit | None:
        known = {case.domain: groups[case.domain]} if case.domain in groups else groups
        classes = [klass for domain, group in known.items() for klass in INVENTED[domain][group]]
        places = [
            found
            for start, end in claims(case, step)
            for klass in classes
            for found in klass.find(step.text, start, end)
        ]
        unknown = unmentioned(case)
        for found in rng.sample(places, len(places)):
            old = step.text[found.start : found.end]
            if 0 < len(occurrences(case.context, old)) <= PASSING:
                fits = partial(_invented, case, unknown, old)
                new = found.klass.swap(found, corpus(case), fits, step.text[: found.start], rng)
                if new is not None:
                    return step.edit((found.start, found.end), in_case_of(new, found, step.text))
        return None


def _invented(case: Case, unknown: Callable[[str], bool], old: str, new: str) -> bool:
    return traceless(case, old, new) and unknown(new)


_register("invented_finding", {"medical": "finding", "legal": "document", "academic": "result"})
_register("invented_source", {"medical": "investigation", "legal": "body", "academic": "method"})
_register("invented_subject", {"medical": "disease or treatment", "legal": "person or act", "academic": "material"})
_register("invented_quality", {"medical": "quality", "legal": "quality", "academic": "quality"})

EXHIBITS = SwapClass.parse("exhibit", "Figure, Table", right=r"\s+\d+\b(?!\.\d)")


@operator(4, "invented_exhibit")
def invented_exhibit(case: Case, step: Step, rng: Random) -> Edit | None:
    """`Table 2` of a paper that has a figure of this number, but no such table, or the other way round."""
    found = list(EXHIBITS.find(step.text, body(step), len(step.text)))
    for place in rng.sample(found, len(found)):
        number = re.match(r"\s+\d+", step.text[place.end :])[0]  # type: ignore[index]  # the slot asks for it
        if not place.plural and says(case.context, place.term.text + number):
            fits = partial(_lacks, case, number, place.term.text)
            new = place.klass.swap(place, corpus(case), fits, "", rng)
            if new is not None:
                return step.edit((place.start, place.end + len(number)), new + number)
    return None


def _lacks(case: Case, number: str, old: str, kind: str) -> bool:
    return traceless(case, old, kind) and not says(case.context, kind + number)
