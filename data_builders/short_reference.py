"""Shortens a reference reasoning to a few steps: the conclusion, and steps that state facts and reasons of the case.

A step that refers to another one is kept together with it. Steps are numbered anew, and so are references to them.
"""

import re

from data_builders.reference_outline import Outline
from data_builders.text_units.clauses import reasons
from data_builders.text_units.facts import facts
from judge_r1.core.records import Case

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def shorten_reference(case: Case, max_steps: int) -> Case | None:
    """Return the case with at most `max_steps` steps in its reference, or None if its conclusion refers to more.

    `meta` has `max_steps` and `steps_dropped`, and the id changes. A case that has no more steps is returned as it is.
    """
    outline = Outline(case)
    if len(outline.steps) <= max_steps:
        return case
    kept = outline.closure(outline.steps[-1])
    if len(kept) > max_steps:
        return None
    for step in sorted(outline.steps, key=lambda step: _use(case, outline.sentences[step].text), reverse=True):
        if len(more := kept | outline.closure(step)) <= max_steps:
            kept = more
    return Case.of(
        domain=case.domain,
        context=case.context,
        decision=case.decision,
        reference=outline.write(kept),
        source=case.source,
        license=case.license,
        meta={**case.meta, "max_steps": max_steps, "steps_dropped": len(outline.steps) - len(kept)},
    )


def _use(case: Case, text: str) -> tuple[bool, bool, int]:
    """How much a step offers to the rules: cites the case word by word, gives a reason, states numbers of the case."""
    numbers = set(_NUMBER.findall(text)) & set(_NUMBER.findall(case.context))
    return any(fact.text in text for fact in facts(case.context)), any(reasons(text, 0, len(text))), len(numbers)
