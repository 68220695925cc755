"""P4, groundedness: a statement of the reference gets a detail of a kind that the case does not mention."""

import re
from collections.abc import Iterator
from functools import lru_cache
from random import Random

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.perturb.rules.operators import operator, statements
from data_builders.text_units.edits import Edit
from data_builders.text_units.steps import Step
from judge_r1.core.records import Case


class _Detail(Lexicon):
    """Clauses that fit statements that `place` matches. `absent` matches any trace of their matter, with synonyms and
    inflections: the detail is added only where the whole case has none."""

    place: str
    absent: str
    clauses: tuple[str, ...]


_DETAILS = load_lexicon("details", dict[str, tuple[_Detail, ...]])
"""Domain → details. In another domain, nobody can say which details are natural: the rule abstains."""


@operator(4, "invented_detail")
def invented_detail(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Add a detail of a kind that the case does not mention."""
    found = list(statements(step))
    for detail in _DETAILS.get(case.domain, ()) if found else ():
        places = [end for start, end in found if re.search(detail.place, step.text[start:end])]
        if places and not _mentions((case.context, case.decision, case.reference), detail.absent):
            for end in places:
                yield step.edit((end - 1, end - 1), ", " + rng.choice(detail.clauses))


@lru_cache(maxsize=1024)
def _mentions(texts: tuple[str, ...], pattern: str) -> bool:
    """Cached, because every step of a case asks."""
    found = re.compile(rf"\b(?:{pattern})", re.IGNORECASE)
    return any(found.search(text) for text in texts)
