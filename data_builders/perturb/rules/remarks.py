"""Remarks about citations: a reference gets sound ones, and rules for P1, P3, P5 and P6 put flawed ones in their place.

A remark calls the sentence before it "this", so it fits behind any citation. Each flawed remark of `remarks.json` has a
sound twin of the same length with similar words. A flawed remark replaces any sound remark, not only its own twin, so
a flawed text often has one more remark of its principle and one fewer of another.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from random import Random

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.perturb.rules.operators import Edit, Interval, Step, operator
from data_builders.perturb.rules.sentence_parts import is_dependent
from judge_r1.core.records import Case

GENERAL = "general"
INSERTED_SHARE = 0.3
"""The share of draws that may add a remark to a citation without one."""
_REACH = 100
"""Characters that `person` of groups.json can match at most, and more."""


class _GroupPattern(Lexicon):
    """Names of groups of people, for contexts that match the pattern.

    `{match}` in a name stands for the pattern's group, `{person}` at the beginning of a pattern for words that
    introduce the person the case is about. An entry without a pattern is for contexts that match no other.
    """

    pattern: str
    groups: tuple[str, ...]


class _DomainGroups(Lexicon):
    person: str
    patterns: tuple[_GroupPattern, ...]


_TWINS = load_lexicon("remarks", dict[str, dict[str, tuple[tuple[str, str], ...]]])
"""By domain and principle: sound and flawed remarks. `{group}` stands for a group of people."""
_GROUPS = load_lexicon("groups", dict[str, _DomainGroups])


def sound_remarks(case: Case, count: int, rng: Random) -> list[str]:
    """Draw up to `count` different remarks that break no principle."""
    sound = [sound for twins in _twins(case.domain).values() for sound, _ in twins]
    return [_fill(text, case, rng) for text in rng.sample(sound, min(count, len(sound)))]


def flawed_remark(case: Case, principle: int, rng: Random) -> str:
    """Draw a remark that breaks a principle."""
    return _fill(rng.choice(_twins(case.domain)[f"P{principle}"])[1], case, rng)


def find_remarks(text: str, domain: str) -> tuple[Interval, ...]:
    """Return the sound remarks in a text."""
    return tuple(match.span() for match in _sound_pattern(domain).finditer(text))


def _twins(domain: str) -> dict[str, tuple[tuple[str, str], ...]]:
    return _TWINS.get(domain) or _TWINS[GENERAL]


@lru_cache(maxsize=8)
def _sound_pattern(domain: str) -> re.Pattern[str]:
    texts = (sound for twins in _twins(domain).values() for sound, _ in twins)
    sound = (re.escape(text).replace(r"\{group\}", r"[^.\n]{3,60}?") for text in texts)
    return re.compile(rf"(?<!\S)(?:{'|'.join(sound)})(?!\S)")


def _fill(text: str, case: Case, rng: Random) -> str:
    return text.replace("{group}", rng.choice(groups_for(case.domain, case.context)))


@lru_cache(maxsize=64)
def groups_for(domain: str, context: str) -> Sequence[str]:
    """Return the groups that keywords of the context point to, or those that fit any context of the domain."""
    lexicon = _GROUPS.get(domain) or _GROUPS[GENERAL]
    found = [
        name.replace("{match}", match[1]) if match.re.groups else name
        for entry in lexicon.patterns
        if entry.pattern and (match := _first_match(entry.pattern, lexicon.person, context))
        for name in entry.groups
    ]
    return found or [name for entry in lexicon.patterns if not entry.pattern for name in entry.groups]


def _first_match(pattern: str, person: str, context: str) -> re.Match[str] | None:
    """The first match of a pattern. Keywords are looked up first, and only then the person in the characters before
    them, because a hostile text can name a person at every word."""
    keywords = re.compile(pattern.removeprefix("{person}"))
    if not pattern.startswith("{person}"):
        return keywords.search(context)
    before = re.compile(rf"{person}\Z")
    match = keywords.search(context)
    while match and not before.search(context, max(0, match.start() - _REACH), match.start()):
        match = keywords.search(context, match.start() + 1)
    return match


def _register(principle: int, name: str) -> None:
    @operator(principle, name)
    def replace(case: Case, step: Step, rng: Random) -> Edit | None:
        sites = list(step.remarks)
        if rng.random() < INSERTED_SHARE:
            ends = [cited.whole[1] for cited in step.citations]
            sites += [(end, end) for end in ends if not _is_referred_to(case, step.start + end)]
        if not sites:
            return None
        start, end = rng.choice(sites)
        text = flawed_remark(case, principle, rng)
        return step.edit((start, end), text if start < end else f" {text}")


def _is_referred_to(case: Case, end: int) -> bool:
    """Whether a remark, or another sentence that needs the one before, follows in the reference."""
    following = case.reference[end:].lstrip()
    return is_dependent(following) or _sound_pattern(case.domain).match(following) is not None


_register(1, "fallacious_remark")
_register(3, "biased_remark")
_register(5, "vague_remark")
_register(6, "harmful_remark")
