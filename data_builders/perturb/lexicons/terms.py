"""Word classes for invented details (P4): things of one kind, any of which a case may have or not have.

`word=other name/other name` lists names of the same thing: where the case has any of them, the thing is not invented.
Words of a class are of one grammatical kind: a mass noun never stands beside a countable one.
"""

from data_builders.perturb.lexicons.terms_academic import ACADEMIC
from data_builders.perturb.lexicons.terms_legal import LEGAL
from data_builders.perturb.lexicons.terms_medical import MEDICAL
from data_builders.perturb.rules.balanced_swap import SwapClass
from data_builders.perturb.rules.slot_grammar import classes

_LEXICONS = {"medical": MEDICAL, "legal": LEGAL, "academic": ACADEMIC}
_NOT_NAMED = ("quality", "finding", "result")

INVENTED: dict[str, dict[str, tuple[SwapClass, ...]]] = {
    domain: {group: classes(lexicon) for group, lexicon in groups.items()} for domain, groups in _LEXICONS.items()
}
"""Domain → group → classes."""

OTHERS_OF_THE_CASE: dict[str, tuple[SwapClass, ...]] = {
    domain: tuple(
        klass
        for group, lexicon in groups.items()
        if group not in _NOT_NAMED
        for klass in classes(lexicon, suffix=" of the case")
    )
    for domain, groups in _LEXICONS.items()
}
"""Domain → the classes of named things again, with weights of their own: for P2, which swaps two things of one case."""
