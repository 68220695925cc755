"""How common statements are in a corpus. A reader who knows it may take the rarer of two statements for the invented
one, so the build balances it."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property

from data_builders.perturb.rules.statements import supported
from judge_r1.core.records import Case

Counts = defaultdict[str, Counter[str]]


class StatementRates:
    """The log odds that a case supports a statement and does not leave its matter out, over the cases of a corpus.

    `cases` opens the corpus, which is read at the first use.
    """

    def __init__(self, cases: Callable[[], Iterable[Case]]) -> None:
        self._cases = cases

    @cached_property
    def _counts(self) -> tuple[Counts, Counts]:
        """By domain, in how many cases each statement is supported, and in how many its matter is not mentioned."""
        counts = Counts(Counter), Counts(Counter)
        for case in self._cases():
            for kind, keys in zip(counts, supported(case.domain, case.context), strict=True):
                kind[case.domain].update(keys)
        return counts

    def log_odds(self, case: Case, key: str) -> float:
        """log((supported + 1/2) / (not mentioned + 1/2)) over the other cases of the domain."""
        numbers = (
            max(0, count[case.domain][key] - (key in own))
            for count, own in zip(self._counts, supported(case.domain, case.context), strict=True)
        )
        true, unknown = (number + 0.5 for number in numbers)
        return math.log(true / unknown)
