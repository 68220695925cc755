"""Fills wording templates, and registers operators that replace part of a step with one."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random

from data_builders.perturb.rules.operators import Edit, Interval, Step, operator
from data_builders.perturb.rules.steps import body_sentences
from judge_r1.core.records import Case

_SLOT = re.compile(r"\{(\w+)\}")

Parts = Mapping[str, Sequence[str]]
FindParts = Callable[[Step], Sequence[Interval]]


def fill(templates: Sequence[str], parts: Parts, rng: Random) -> str:
    """Fill the `{slot}`s of a random template from `parts`, including slots inside the parts."""
    text = rng.choice(templates)
    while match := _SLOT.search(text):
        text = text[: match.start()] + rng.choice(parts[match[1]]) + text[match.end() :]
    return text


def fill_to_length(templates: Sequence[str], parts: Parts, length: int, rng: Random, samples: int = 6) -> str:
    """Return the sampled wording whose number of characters is nearest to `length`."""
    return min((fill(templates, parts, rng) for _ in range(samples)), key=lambda text: abs(len(text) - length))


def match_first_letter(new: str, old: str) -> str:
    """Capitalize `new` where `old` starts with a capital."""
    return new[0].upper() + new[1:] if old[0].isupper() else new


def as_sentence(text: str) -> str:
    """Add a capital and, if the text has no closing mark, a full stop."""
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def in_sentences(find: Callable[[str, int, int], Iterable[Interval]], min_words: int) -> FindParts:
    """Apply a finder from `clauses` to every sentence of a step's body that has `min_words` words."""
    return lambda step: [
        found for start, end in body_sentences(step, min_words) for found in find(step.text, start, end)
    ]


def register_rewrite(
    principle: int,
    name: str,
    find: FindParts,
    templates: Sequence[str],
    parts: Callable[[Case, Random], Parts],
    *,
    whole_sentence: bool = False,
) -> None:
    """Register an operator that replaces one of the parts in `find(step)` with a wording of about the same length."""

    @operator(principle, name)
    def rewrite(case: Case, step: Step, rng: Random) -> Edit | None:
        found = find(step)
        if not found:
            return None
        start, end = rng.choice(found)
        text = fill_to_length(templates, parts(case, rng), end - start, rng)
        text = as_sentence(text) if whole_sentence else match_first_letter(text, step.text[start:end])
        return step.edit((start, end), text)
