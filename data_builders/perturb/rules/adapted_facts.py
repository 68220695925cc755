"""Gives a sentence of another case the names and years of a case, so that it could be a sentence of this one."""

import re
from functools import lru_cache
from random import Random

from data_builders.perturb.rules.p2_facts import NAME, name_kind
from judge_r1.core.records import Case

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def with_names_of_case(case: Case, text: str, rng: Random) -> str | None:
    """Replace each name by one of the same kind of the case: the same title, or the same last word ("District Court").

    A name that the case has stays. None if the case has none of a kind.
    """
    taken: dict[str, str] = {}
    for match in NAME.finditer(text):
        name = match[0]
        if match.start() == 0 and " " not in name and "." not in name:
            continue  # the first word of the sentence
        if name in taken or name in case.context:
            continue
        others = [
            other for other in _names_by_kind(case.context).get(name_kind(name), ()) if other not in taken.values()
        ]
        if not others or not name_kind(name):
            return None
        taken[name] = rng.choice(others)
    for name, other in taken.items():
        text = text.replace(name, other)
    return text


@lru_cache(maxsize=8)
def _names_by_kind(context: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for match in NAME.finditer(context):
        found.setdefault(name_kind(match[0]), {})[match[0]] = None
    return {kind: tuple(names) for kind, names in found.items()}


def with_years_of_case(case: Case, text: str, rng: Random) -> str | None:
    """Move the years of a text, together, to years of the case. None if the case has none for them."""
    years = [int(year) for year in _YEAR.findall(text)]
    if not years:
        return text
    stated = sorted(map(int, _YEAR.findall(case.context)))
    if not stated:
        return None
    moved = rng.choice(stated[len(stated) // 4 :]) - years[0]
    if max(years) + moved > stated[-1]:
        return None
    return _YEAR.sub(lambda match: str(int(match[0]) + moved), text)
