"""P4, groundedness: a detail that the case does not have is added to a step, or takes the place of a part of it.

The detail is about something of which the case says nothing, so it contradicts no statement of the case (P2).
"""

import re
from collections.abc import Callable
from random import Random

from data_builders.perturb.rules.claims import absent_from
from data_builders.perturb.rules.detail_sites import (
    clause_ends,
    conclusion_grounds,
    is_entry,
    paragraph_references,
    remarks,
    replaceable_openings,
    spare_sentences,
    spare_tails,
    statement_ends,
    statements,
)
from data_builders.perturb.rules.details import detail
from data_builders.perturb.rules.operators import Edit, Interval, Step, operator
from data_builders.perturb.rules.steps import body_sentences, body_start
from data_builders.perturb.rules.templates import as_sentence, match_first_letter, word_counts
from data_builders.perturb.rules.text_match import contains, words
from data_builders.perturb.rules.word_classes import listed_classes
from data_builders.perturb.rules.word_swap import PREFERRED, SwapClass
from judge_r1.core.records import Case

LENGTHS = (0.2, 0.4, 0.7, 1.0)
INSERTED = (20, 40, 60, 90)
"""Lengths of a detail: relative to the part that it replaces, and of an addition in characters."""
ADDED = 0.4
"""The share of the draws that may add to a step: every step takes an addition, few have a part to replace."""
_DENIED = re.compile(r"\b(?:no|not|without|absence|exclu\w+|ruled|denied|negative|lack|nor|neither|less likely)\b")
_POINTS = re.compile(r"This|The same|It is also|There was also")
"""A sentence that needs one before it."""
_SUBJECT = re.compile(
    r"(?:The(?! Court (?:further |also )?(?:notes|observes|accepts))|She|He|They|These|His|Her|Their|A|An)\b"
)
FindParts = Callable[[Case, Step], list[Interval]]


def _register(name: str, kind: str, find: FindParts) -> None:
    """Register an operator that puts a detail in the place of a part of a step. An empty part is an addition."""

    @operator(4, name)
    def invent(case: Case, step: Step, rng: Random) -> Edit | None:
        found = find(case, step)
        if not found or (found[0][0] == found[0][1] and rng.random() > ADDED):
            return None
        start, end = _choose(case, step, found, rng)
        length = round((end - start) * rng.choice(LENGTHS)) or rng.choice(INSERTED)
        text = detail(case, kind, length, rng)
        if (
            text is None
            or text.lower() in step.text.lower()
            or (is_entry(step) and start < end and _POINTS.match(text))
        ):
            return None
        if kind == "sentence":
            text = as_sentence(text) if start < end else " " + as_sentence(text)
        elif start < end:
            text = match_first_letter(text, step.text[start:end])
        return step.edit((start, end), text)


def _choose(case: Case, step: Step, found: list[Interval], rng: Random) -> Interval:
    """Choose a part: half of the draws take the one with the most words that the reference has nowhere else."""
    counts = word_counts(case.reference)
    rare = [sum(counts[word] == 1 for word in words(step.text[start:end])) for start, end in found]
    return found[rare.index(max(rare))] if rng.random() < PREFERRED else rng.choice(found)


_register("invented_closing", "closing", clause_ends)
_register("invented_tail", "closing", spare_tails)
_register("invented_opening", "opening", replaceable_openings)
_register("invented_reason", "reason", conclusion_grounds)
_register("invented_aside", "aside", remarks)
_register("invented_reference", "reference", paragraph_references)
_register("added_sentence", "sentence", statement_ends)
_register("invented_sentence", "sentence", spare_sentences)


@operator(4, "added_opening")
def added_opening(case: Case, step: Step, rng: Random) -> Edit | None:
    """Open a sentence with `According to the …,`."""
    found = [part for part in statements(case, step) if _SUBJECT.match(step.text, part[0])]
    text = detail(case, "opening", rng.choice(INSERTED), rng) if found and rng.random() < ADDED else None
    if text is None:
        return None
    start, end = rng.choice(found)
    first = step.text[start:end].split()[0]
    return step.edit((start, start + len(first)), text + first.lower())


@operator(4, "invented_item")
def invented_item(case: Case, step: Step, rng: Random) -> Edit | None:
    """Add a thing of the same kind to a list, or put it in the place of one or two of its entries."""
    items = [
        (found, sentence)
        for sentence in body_sentences(step)
        for swap_class in listed_classes(case.domain)
        for found in swap_class.find(step.text, *sentence)
        if _is_listed(step.text, found.start, found.end)
    ]
    absent = absent_from(case)
    for found, _ in rng.sample(items, len(items)):
        new = found.swap_class.swap(found, absent, step.text[: found.start], rng)
        if new is None:
            continue
        following = re.match(r", ((?:[\w-]+ )?[\w-]+)(?=,| and | or |\))", step.text[found.end :])
        end = found.end + following.end() if following and rng.random() < 0.5 else found.start
        text = new if end > found.start else f"{new}, "
        return step.edit((found.start, end), text)
    return None


def _is_listed(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is an entry of a list that asserts: `fever, cough and rash`."""
    clause = re.split(r"[;:.]", text[max(0, start - 120) : start])[-1]
    continues = re.match(r", (?:and |or )?[\w-]+|,? (?:and|or) ", text[end:])
    return text[:start].endswith(", ") and continues is not None and not _DENIED.search(clause)


EXHIBITS = SwapClass.of("exhibit", ("Figure", "Table"), right=r"\s+\d+\b(?!\.\d)")


@operator(4, "invented_exhibit")
def invented_exhibit(case: Case, step: Step, rng: Random) -> Edit | None:
    """Cite `Table 2` of a paper that has a Figure 2 but no such table, or the reverse."""
    exhibits = list(EXHIBITS.find(step.text, body_start(step), len(step.text)))
    for found in rng.sample(exhibits, len(exhibits)):
        number = re.match(r"\s+\d+", step.text[found.end :])[0]  # type: ignore[index]  # the slot requires a number
        if not found.plural and contains(case.context, found.term.text + number):
            new = found.swap_class.swap(found, lambda kind: not contains(case.context, kind + number), "", rng)  # noqa: B023
            if new is not None:
                return step.edit((found.start, found.end + len(number)), new + number)
    return None
