"""P4, groundedness: a statement on a matter that the case does not mention takes the place of a true one."""

from random import Random

from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.statements import unstated
from judge_r1.core.records import Case

SAME_TOPIC = 0.5
"""The share of draws that keep the topic of the statement, where the case lacks a matter of that topic."""


@operator(4, "unstated_matter")
def state_unstated_matter(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replaces a statement by one on a matter that neither the context nor the reference mentions."""
    found = unstated(case)
    if not step.statements or not found:
        return None
    start, end, topic = rng.choice(step.statements)
    related = [statement for statement in found if statement.topic == topic]
    return step.edit((start, end), rng.choice(related if related and rng.random() < SAME_TOPIC else found).wording(rng))
