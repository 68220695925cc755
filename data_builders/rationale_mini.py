"""How a careful judge of `mini` works: look up every claim of A, then of B, say what the record has, name the flaws.

The format is one that small models can learn: each look-up puts the claim and its record side by side.
"""

import re
from collections.abc import Generator, Sequence
from random import Random

from data_builders.perturb.mini import HARMFUL, NON_SEQUITURS, PREJUDICES, VAGUE
from data_builders.sources.mini import FACT, facts_of
from judge_r1.config import EpisodeConfig
from judge_r1.records import Case, Evidence, ReasoningPair

_STEP = re.compile(rf"(?P<number>\d+)\. (?:(?P<claim>{FACT.pattern}), (?P<tail>[a-z ]+)|(?P<advice>next [a-z ]+))\.")
_TAILS = dict.fromkeys(NON_SEQUITURS.values(), " but illogical 1")
_TAILS |= dict.fromkeys(PREJUDICES.values(), " but unfair 3")
_OPENINGS = [(text.split("{")[0], " vague 5") for text in VAGUE.values()]
_OPENINGS += [(text.split("{")[0], " harmful 6") for text in HARMFUL.values()]


def write_mini(
    case: Case, pair: ReasoningPair, config: EpisodeConfig, rng: Random, skim: bool
) -> Generator[str, Sequence[Evidence], None]:
    """Checks side A to its end, and side B only if A has no flaw. A skimming judge stops at a random earlier step."""
    sides = [("A", pair.reasoning_a)] + ([("B", pair.reasoning_b)] if pair.preferred == "A" else [])
    steps = [(side, match) for side, text in sides for match in _STEP.finditer(text)]
    if skim:
        steps = steps[: rng.randrange(len(steps))]
    thoughts = ""
    for side, step in steps:
        label = f"{side} {step['number']} says"
        if step["advice"]:
            thoughts += f"<think>{label} next{_advice(step['advice'])}</think>"
            continue
        record = next((f"{f}" for f in facts_of(case.context) if (f.who, f.did) == (step["who"], step["did"])), None)
        finding = "absent 4" if record is None else "same" if record == step["claim"] else "differs 2"
        thoughts += f"<think>{label} {step['claim']}{_TAILS.get(step['tail'], '')}</think>"
        if config.search:
            passages = yield f"{thoughts}<search>{step['who']} {step['did']}</search>"
            thoughts, record = "", passages[0].text.rstrip(".")
        if config.search or config.context == "full":
            thoughts += f"<think>record {record or 'nothing'} {finding}</think>"
    if thoughts:
        yield thoughts


def _advice(text: str) -> str:
    return next((finding for opening, finding in _OPENINGS if text.startswith(opening.rstrip())), " ok")
