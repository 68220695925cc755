"""Joint correctness (RankJudge, Eq. 1), its relaxations, and the failure types that a judge names (section 4)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from judge_r1.benchmarks.aggregation import all_invalid, mean, mean_or_none
from judge_r1.benchmarks.base import Table, Tables
from judge_r1.core.conversations import FAILURES
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.verdicts import (
    ChecklistVerdict,
    InvalidVerdict,
    LocatedVerdict,
    ScoresVerdict,
    Verdict,
    parts_correct,
    preference,
    reorder,
)

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


Criterion = Literal["side", "side+round"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)


def gold_of(item: Item) -> LocatedVerdict:
    """The gold of an item as a verdict."""
    return _gold(item.gold)


def _gold(labels: Mapping[str, Any]) -> LocatedVerdict:
    return LocatedVerdict(winner=labels["better"], round=labels["round"], failure=labels["failure"])


def aggregate_joint(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    """The mean joint correctness of the votes: all three parts right. An invalid vote counts 0. The verdict keeps what
    the votes agree on."""
    gold = gold_of(item)
    return AggregatedVerdict(verdict=_agreed(votes), score=mean(all(parts_correct(_own(vote), gold)) for vote in votes))


def aggregate_side(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    """The mean correctness of the better side alone, for judges that name no round."""
    gold = gold_of(item)
    return AggregatedVerdict(verdict=_agreed(votes), score=mean(parts_correct(_own(vote), gold)[0] for vote in votes))


def aggregate_pointwise(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    """The conversation with the higher score is better; equal scores count one half."""
    scores = dict[int, float]()
    for vote in votes:
        if isinstance(vote.verdict, ChecklistVerdict):
            scores[vote.order[0]] = vote.verdict.scores["score"]
    if len(scores) < 2:
        return AggregatedVerdict(verdict=all_invalid(votes) or InvalidVerdict(reason="missing_score"), score=0.0)
    verdict = ScoresVerdict(scores=(scores[0], scores[1]))
    winner = preference(verdict)
    return AggregatedVerdict(verdict=verdict, score=0.5 if winner == "tie" else float(winner == item.gold["better"]))


def metrics(results: Sequence[ItemResult]) -> dict[str, Any]:
    """Means over all votes, so that both orders count alike. `side`: the better conversation is right. `side+round`:
    the round, too. `bias A` … `bias G`: see `failure_types.class_bias`. Of votes on one conversation each, only
    `score gap`: the mean score of the better conversations minus that of the worse ones, from 1 to 10."""
    if any(map(is_pointwise, results)):
        return {"score gap": mean_or_none(_score_gaps(results))}
    bias = class_bias(named_types(results))
    return {
        "side": mean_or_none(criterion_score(result, "side") for result in results),
        "side+round": mean_or_none(criterion_score(result, "side+round") for result in results),
        **{f"bias {failure.letter}": bias.get(failure.key) for failure in FAILURES if bias},
    }


def tables(results: Sequence[ItemResult]) -> Tables:
    """Accuracy by the type of the flaw, and the shares of the types that the judge names; empty for pointwise votes."""
    if any(map(is_pointwise, results)):
        return {}
    kinds: dict[str, list[ItemResult]] = {}
    for result in sorted(results, key=lambda result: str(result.gold["failure"])):
        kinds.setdefault(result.gold["failure"], []).append(result)
    accuracy: Table = {
        kind: {
            "pairs": len(own),
            "score": mean(result.score for result in own),
            **{name: mean(criterion_score(result, name) for result in own) for name in CRITERIA},
        }
        for kind, own in kinds.items()
    }
    named: Table = {gold: dict(row) for gold, row in confusion(named_types(results)).items()}
    return {"By type of the flaw": accuracy, **({"Named type by type of the flaw": named} if named else {})}


def is_pointwise(result: ItemResult) -> bool:
    """Whether the votes rate one conversation each."""
    return any(len(vote.order) == 1 for vote in result.votes)


def criterion_score(result: ItemResult, criterion: Criterion) -> float:
    """The score of a result if only the side, or side and round, must be right, as the mean over its votes. An invalid
    vote counts 0. Pointwise votes decide on the side alone.

    Raises:
        ValueError: Pointwise votes give no round.
    """
    if is_pointwise(result):
        if criterion != "side":
            raise ValueError("votes on one conversation each name no round: only the side can count")
        return result.score
    parts = [parts_correct(_own(vote), _gold(result.gold)) for vote in result.votes]
    return mean(part.side and (part.round or criterion == "side") for part in parts)


def _score_gaps(results: Sequence[ItemResult]) -> list[float]:
    """The score of the better conversation minus that of the worse one, where both have one."""
    gaps = []
    for result in results:
        if isinstance(result.verdict, ScoresVerdict):
            first, second = result.verdict.scores
            gaps.append(first - second if result.gold["better"] == "A" else second - first)
    return gaps


def _own(vote: Vote) -> Verdict:
    """The verdict in terms of the item's candidates."""
    return reorder(vote.verdict, vote.order)


def _agreed(votes: Sequence[Vote]) -> Verdict:
    if invalid := all_invalid(votes):
        return invalid
    found = [verdict for vote in votes if not isinstance(verdict := _own(vote), InvalidVerdict)]
    winners = {preference(verdict) for verdict in found}
    located = [verdict for verdict in found if isinstance(verdict, LocatedVerdict)]
    rounds, failures = {verdict.round for verdict in located}, {verdict.failure for verdict in located}
    winner = winners.pop() if len(winners) == 1 else "tie"
    return LocatedVerdict(
        winner=winner or "tie",
        round=rounds.pop() if len(rounds) == 1 else None,
        failure=failures.pop() if len(failures) == 1 else None,
    )
