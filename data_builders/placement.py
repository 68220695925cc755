"""Balances the placement of pairs: in how many A is the better reasoning, by domain and set."""

from judge_r1.core.records import ReasoningPair
from judge_r1.core.verdicts import Preference


def set_name(pair: ReasoningPair) -> str:
    """`P1` … `P6` for a single pair, `multi` for another one."""
    return f"P{pair.violated[0]}" if pair.kind == "single" else "multi"


class BalancedPlacement:
    """Places the pairs of a build in their order, in blocks of two pairs of a stratum, which is a domain and a set.

    The first pair of a block keeps its side, which is hash(pair_id, seed), and the second one gets the other side. So
    in each stratum, the numbers of pairs with A better and with B better differ by at most one. A placement depends on
    the pairs before it alone: a resumed or concurrent build, and the first cases of a longer one, get the same.
    """

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], Preference] = {}

    def place(self, pair: ReasoningPair) -> ReasoningPair:
        key = pair.domain, set_name(pair)
        first = self._open.pop(key, None)
        if first is None:
            self._open[key] = pair.preferred
            return pair
        return pair.placed("B" if first == "A" else "A")
