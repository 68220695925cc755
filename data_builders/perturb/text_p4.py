"""P4, groundedness: a detail of the case is replaced by one of the same kind of which the case has no word.

Both reasonings hold a detail of the same form; only the case tells that one of them was invented.
"""

from random import Random

from data_builders.perturb.facts import claims, once, unmentioned
from data_builders.perturb.match import says
from data_builders.perturb.operators import Edit, Step, operator
from data_builders.perturb.swap import in_case_of
from data_builders.perturb.terms import INVENTED
from judge_r1.records import Case


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
        fits = unmentioned(case)
        for found in rng.sample(places, len(places)):
            old = step.text[found.start : found.end]
            if says(case.context, old) and once(case, old):
                new = found.klass.swap(found, case.domain, fits, step.text[: found.start], rng)
                if new is not None:
                    return Edit(step.start + found.start, step.start + found.end, in_case_of(new, old))
        return None


_register("invented_finding", {"medical": "finding", "legal": "document", "academic": "result"})
_register("invented_source", {"medical": "investigation", "legal": "body", "academic": "method"})
_register("invented_subject", {"medical": "disease or treatment", "legal": "person or act", "academic": "material"})
