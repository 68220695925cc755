"""How a careful judge of `mini` works: look up every claim of A, then of B, say what the record has, name the flaws.

The format is one that small models can learn: a line is named before it is looked up, and record and claim then stand
side by side, word by word.
"""

import re
from collections.abc import Generator, Sequence

from data_builders.perturb.mini import HARMFUL, NON_SEQUITURS, PREJUDICES, VAGUE
from data_builders.sources.mini import FACT, Fact, facts_of
from judge_r1.config import EpisodeConfig
from judge_r1.records import Case, Evidence, ReasoningPair

_STEP = re.compile(rf"(?P<number>\d+)\. (?:(?P<claim>{FACT.pattern}), (?P<tail>[a-z ]+)|(?P<advice>next [a-z ]+))\.")
_TAILS = dict.fromkeys(NON_SEQUITURS.values(), " illogical 1")
_TAILS |= dict.fromkeys(PREJUDICES.values(), " unfair 3")
_OPENINGS = [(text.split("{")[0], " vague 5") for text in VAGUE.values()]
_OPENINGS += [(text.split("{")[0], " harmful 6") for text in HARMFUL.values()]


def write_mini(case: Case, pair: ReasoningPair, config: EpisodeConfig) -> Generator[str, Sequence[Evidence], None]:
    """Checks A line by line, then B if A has no flaw, stops where the last flaw is found, and says whose it is."""
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
        if config.search:
            passages = yield f"{thoughts}<search>{claim.who} {claim.did}</search>"
            found = facts_of(passages[0].text)[0]
            thoughts = f"<think>{side_by_side(found, claim, numbered=True)}</think>"
        elif config.context == "full":
            found = max(facts_of(case.context), key=lambda fact: (fact.who == claim.who) + (fact.did == claim.did))
            thoughts += f"<think>{side_by_side(found, claim, numbered=True)}</think>"
    yield f"{thoughts}<think>{side} worse</think>"


def side_by_side(found: Fact, claim: Fact, *, numbered: bool = False) -> str:
    """Record and claim word by word up to the first difference; `numbered` names the principle that it breaks: 4 where
    the record is about something else, 2 where it has another value."""
    words = []
    for part, principle in (("who", 4), ("did", 4), ("value", 2)):
        recorded, claimed = getattr(found, part), getattr(claim, part)
        words += [recorded, claimed, "same" if recorded == claimed else "differs"]
        if recorded != claimed:
            return " ".join([*words, str(principle)] if numbered else words)
    return " ".join(words)


def _advice(text: str) -> str:
    """The first two words of an advice and what it is."""
    finding = next((finding for opening, finding in _OPENINGS if text.startswith(opening.rstrip())), " ok")
    return " ".join(text.split()[:2]) + finding
