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


class Shaping(NamedTuple):
    """Weights of the nested parts of a reward: side, side and round, all three. They add up to 1, so that a right
    verdict gets 1. The default is joint correctness (RankJudge, Eq. 1).

    A round or a type never pays without the better side.
    """

    side: float = 0.0
    round: float = 0.0
    type: float = 1.0

    def check(self) -> None:
        """Raises: ValueError if a weight is negative or they do not add up to 1."""
        # Not exactly 1: .7 + .2 + .1 is below it.
        if min(self) < 0 or abs(sum(self) - 1) > 1e-9:
            raise ValueError(f"the weights of a shaped reward are not negative and add up to 1, unlike {tuple(self)}")

    def reward(self, parts: Parts) -> float:
        """The reward of a verdict with these parts, from 0 to 1."""
        side, round_, failure = parts
        nested = (side, side and round_, side and round_ and failure)
        return sum(weight for weight, right in zip(self, nested, strict=True) if right)


JOINT = Shaping()
