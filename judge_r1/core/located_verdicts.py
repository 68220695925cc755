"""The parts of a verdict on two conversations: the better side, the flawed round, and the type of the flaw."""

from typing import NamedTuple

from judge_r1.core.verdicts import LocatedVerdict, Verdict, preference


class Parts(NamedTuple):
    """Which parts of a verdict are right. A missing part is wrong."""

    side: bool
    round: bool
    type: bool


def parts_correct(verdict: Verdict, gold: LocatedVerdict) -> Parts:
    """Compare a verdict with the gold."""
    side = preference(verdict) == gold.winner
    if not isinstance(verdict, LocatedVerdict):
        return Parts(side, False, False)
    return Parts(side, verdict.round == gold.round, verdict.failure == gold.failure)
