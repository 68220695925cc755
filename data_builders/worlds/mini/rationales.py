"""Writes rationales for `mini`: look up every claim of A, then of B, compare it with the record, and name the flaws.

The format is made for small models: a claim is quoted before it is looked up, and record and claim are then compared
word by word.
"""

import re
from collections.abc import Sequence
from functools import partial
from random import Random

from data_builders.rationales import WRITERS, Rationale
from data_builders.worlds.mini.source import FACT, WORDS, Fact, facts_of
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.episode.config import EpisodeConfig

_STEP = re.compile(rf"(?P<number>\d+)\. (?:(?P<claim>{FACT.pattern}), (?P<tail>[a-z ]+)|(?P<advice>next [a-z ]+))\.")
_TAILS = dict.fromkeys(WORDS.non_sequiturs.values(), " illogical 1")
_TAILS |= dict.fromkeys(WORDS.prejudices.values(), " unfair 3")
_OPENINGS = [(text.split("{")[0], " vague 5") for text in WORDS.vague.values()]
_OPENINGS += [(text.split("{")[0], " harmful 6") for text in WORDS.harmful.values()]


def write_mini(case: Case, pair: ReasoningPair, config: EpisodeConfig, *, lookups: float = 1.0) -> Rationale:
    """Checks A line by line, then B if A has no flaw; stops at the last flaw and names the worse side.

    `lookups` is the share of the supported claims that are looked up; unsupported ones always are. Gives up if a search
    does not return the fact of the case that is nearest to the claim.
    """
    rng = Random(content_hash("lookups", pair.pair_id))
    facts = facts_of(case.context)
    last = max(flaw.span.start for flaw in pair.origin.flaws)
    steps = [
        ("A", match) for match in _STEP.finditer(pair.reasoning_a) if pair.preferred == "A" or match.start() <= last
    ]
    if pair.preferred == "A":
        steps += [("B", match) for match in _STEP.finditer(pair.reasoning_b) if match.start() <= last]
    thoughts = ""
    for side, step in steps:
        label = f"{side} {step['number']} says"
        if step["advice"]:
            thoughts += f"<think>{label} {_advice(step['advice'])}</think>"
            continue
        thoughts += f"<think>{label} {step['claim']}, {step['tail']}{_TAILS.get(step['tail'], '')}</think>"
        claim = Fact(step["who"], step["did"], step["value"])
        if claim in facts and rng.random() >= lookups:
            continue
        seen = facts
        if config.search:
            passages = yield f"{thoughts}<search>{claim.who} {claim.did}</search>"
            thoughts, seen = "", [fact for passage in passages for fact in facts_of(passage.text)]
        elif config.context == "none":
            continue
        found, known = _nearest(seen, claim), _nearest(facts, claim)
        if found is None or known is None or _nearness(found, claim) < _nearness(known, claim):
            return  # the search missed the nearest fact, so a finding would be a guess
        thoughts += f"<think>{_side_by_side(found, claim)}</think>"
    yield f"{thoughts}<think>{side} worse</think>"


def _nearest(facts: Sequence[Fact], claim: Fact) -> Fact | None:
    """The first fact that shares most of a claim's person and event."""
    return max(facts, key=lambda fact: _nearness(fact, claim), default=None)


def _nearness(fact: Fact, claim: Fact) -> int:
    return (fact.who == claim.who) + (fact.did == claim.did)


def _side_by_side(found: Fact, claim: Fact) -> str:
    """Compares record and claim word by word up to the first difference, and adds the violated principle: 4 if the
    record is about something else, 2 if it has another value."""
    words = []
    for part, principle in (("who", 4), ("did", 4), ("value", 2)):
        recorded, claimed = getattr(found, part), getattr(claim, part)
        words += [recorded, claimed, "same" if recorded == claimed else "differs"]
        if recorded != claimed:
            return " ".join([*words, str(principle)])
    return " ".join(words)


def _advice(text: str) -> str:
    """The first two words of an advice and its assessment."""
    finding = next((finding for opening, finding in _OPENINGS if text.startswith(opening.rstrip())), " ok")
    return " ".join(text.split()[:2]) + finding


WRITERS.register("mini")(write_mini)
WRITERS.register("mini-hasty")(partial(write_mini, lookups=0.4))
