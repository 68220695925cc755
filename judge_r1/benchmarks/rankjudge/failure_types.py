"""The failure types that a judge names: confusion with the gold, and the bias towards a type (RankJudge, section 4)."""

from collections import Counter
from collections.abc import Iterable, Mapping

from judge_r1.core.conversation_types import FAILURES
from judge_r1.core.items import ItemResult
from judge_r1.core.verdicts import LocatedVerdict

NamedTypes = Mapping[tuple[str, str], int]
"""(gold type, named type) -> votes. Votes that name no type are left out."""


def named_types(results: Iterable[ItemResult]) -> Counter[tuple[str, str]]:
    """The counts of results on conversation pairs."""
    return Counter(
        (result.gold["failure"], vote.verdict.failure)
        for result in results
        for vote in result.votes
        if isinstance(vote.verdict, LocatedVerdict) and vote.verdict.failure
    )


def class_bias(named: NamedTypes) -> dict[str, float]:
    """Share of the named types minus share of the gold, by type, in percentage points; empty without votes."""
    total = sum(named.values())
    difference: Counter[str] = Counter()
    for (gold, predicted), count in named.items():
        difference[predicted] += count
        difference[gold] -= count
    return {failure.key: 100 * difference[failure.key] / total for failure in FAILURES} if total else {}


def confusion(named: NamedTypes) -> dict[str, dict[str, float]]:
    """Share of each named type by gold type; rows add up to 1."""
    rows: dict[str, Counter[str]] = {}
    for (gold, predicted), count in named.items():
        rows.setdefault(gold, Counter())[predicted] += count
    return {gold: {f.key: row[f.key] / row.total() for f in FAILURES} for gold, row in sorted(rows.items())}
