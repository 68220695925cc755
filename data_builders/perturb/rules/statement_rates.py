"""How common statements are in a corpus. A reader who knows it may take the rarer of two statements for the invented
one, so the build balances it."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from data_builders.perturb.rules.statements import supported
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case


@dataclass(frozen=True)
class CaseStatements:
    """The keys of the statements that a case supports, and of those on matters that it does not mention."""

    domain: str
    context: str
    """A hash of the text, which several cases of a corpus may share."""
    supported: frozenset[str]
    unmentioned: frozenset[str]

    @classmethod
    def of(cls, case: Case) -> "CaseStatements":
        true, unknown = supported(case.domain, case.context)
        return cls(case.domain, content_hash(case.context), frozenset(true), frozenset(unknown))


@dataclass
class _Counts:
    """How many cases of a domain support a statement, how many do not mention its matter, and which texts were read."""

    supported: Counter[str] = field(default_factory=Counter)
    unmentioned: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)


class StatementRates:
    """The log odds that a case supports a statement and does not leave its matter out, over the cases of a corpus.

    `cases` opens the corpus, which is read at the first use, up to the first error in it.
    """

    def __init__(self, cases: Callable[[], Iterable[Case]]) -> None:
        self._cases = cases

    @cached_property
    def _counts(self) -> defaultdict[str, _Counts]:
        counts = defaultdict[str, _Counts](_Counts)
        try:
            for case in self._cases():
                found, domain = CaseStatements.of(case), counts[case.domain]
                domain.supported.update(found.supported)
                domain.unmentioned.update(found.unmentioned)
                domain.texts[found.context] += 1
        except JudgeError:
            pass  # the build reports it when it reaches the case
        return counts

    def log_odds(self, of: CaseStatements, key: str) -> float:
        """log((supported + 1/2) / (not mentioned + 1/2)) over the other texts of the domain."""
        counts = self._counts[of.domain]
        own = counts.texts[of.context]
        true = counts.supported[key] - own * (key in of.supported)
        unknown = counts.unmentioned[key] - own * (key in of.unmentioned)
        return math.log((true + 0.5) / (unknown + 0.5))
