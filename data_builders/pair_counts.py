"""Counts of pairs that grow with them: nothing is kept but sums."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from judge_r1.core.principles import by_number
from judge_r1.core.records import ReasoningPair


class PairCounts:
    """Pairs by domain, by kind, by principle (a pair counts under each) and by operator."""

    def __init__(self, pairs: Iterable[ReasoningPair] = ()) -> None:
        self.pairs = 0
        self._by: dict[str, Counter[str]] = {
            name: Counter() for name in ("by_domain", "by_kind", "by_principle", "by_operator")
        }
        for pair in pairs:
            self.add(pair)

    def add(self, pair: ReasoningPair) -> None:
        self.pairs += 1
        self._by["by_domain"][pair.domain] += 1
        self._by["by_kind"][pair.kind] += 1
        self._by["by_principle"].update(by_number(number).code for number in pair.violated)
        self._by["by_operator"].update(flaw.operator for flaw in pair.origin.flaws)

    def as_dict(self) -> dict[str, Any]:
        return {name: dict(sorted(counter.items())) for name, counter in self._by.items()}
