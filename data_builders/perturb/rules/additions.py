"""P3, P4 and P6: a clause behind a statement of the reference that names what the clause is about.

An entry of `additions.json` has a pattern of the statements that it fits. P4 also has a pattern of any trace of its
matter, with synonyms and inflections: a detail is added only where the whole case has none.
"""

import re
from collections.abc import Iterator
from random import Random

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.perturb.rules.operators import operator
from data_builders.perturb.rules.sites import statements
from data_builders.text_units.edits import Edit
from data_builders.text_units.steps import Step
from judge_r1.core.records import Case

GENERAL = "general"


class _Addition(Lexicon):
    """Clauses that fit statements that `place` matches, in cases without any match of `absent`."""

    place: str
    absent: str = ""
    clauses: tuple[str, ...]


_ADDITIONS = load_lexicon("additions", dict[str, dict[str, tuple[_Addition, ...]]])
"""Operator → domain → entries. A domain without any has those of `general`."""


def _add(name: str, case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    found = list(statements(step))
    entries = _ADDITIONS[name].get(case.domain, _ADDITIONS[name].get(GENERAL, ()))
    for entry in entries if found else ():
        places = [(start, end) for start, end in found if re.search(entry.place, step.text[start:end])]
        if places and not (entry.absent and _mentions(case, entry.absent)):
            for _, end in places:
                yield step.edit((end - 1, end - 1), ", " + rng.choice(entry.clauses))


def _mentions(case: Case, pattern: str) -> bool:
    found = re.compile(rf"\b(?:{pattern})", re.IGNORECASE)
    return any(found.search(text) for text in (case.context, case.decision, case.reference))


@operator(3, "prejudice")
def prejudice(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Let a trait of a group that the statement names weigh in its conclusion."""
    return _add("prejudice", case, step, rng)


@operator(4, "invented_detail")
def invented_detail(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Add a detail of a kind that the case does not mention."""
    return _add("invented_detail", case, step, rng)


@operator(6, "harmful_advice")
def harmful_advice(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Let a recommendation end in an unsafe or dishonest one."""
    return _add("harmful_advice", case, step, rng)
