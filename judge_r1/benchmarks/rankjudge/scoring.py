"""Joint correctness (RankJudge, Eq. 1), its relaxations, and the bias of a judge between failure types."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.benchmarks.aggregation import all_invalid, mean, mean_or_none
from judge_r1.core.conversation_types import FAILURES
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.located_verdicts import parts_correct
from judge_r1.core.verdicts import (
    ChecklistVerdict,
    InvalidVerdict,
    LocatedVerdict,
    ScoresVerdict,
    Verdict,
    preference,
    reorder,
)


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
    the round, too. `bias A` … `bias G`: see `class_bias`. Of votes on one conversation each, only `score gap`: the mean
    score of the better conversations minus that of the worse ones, from 1 to 10."""
    if any(len(vote.order) == 1 for result in results for vote in result.votes):
        return {"score gap": mean_or_none(_score_gaps(results))}
    parts = [parts_correct(_own(vote), _gold(result.gold)) for result in results for vote in result.votes]
    bias = class_bias(results)
    return {
        "side": mean_or_none(part.side for part in parts),
        "side+round": mean_or_none(part.side and part.round for part in parts),
        **{f"bias {failure.letter}": bias.get(failure.key) for failure in FAILURES if bias},
    }


def class_bias(results: Sequence[ItemResult]) -> dict[str, float]:
    """Share of predictions minus share of gold by failure type, in percentage points, over the votes with a predicted
    type; empty without one."""
    named = _named_types(results)
    gold, predicted = (Counter(pair[side] for pair in named) for side in (0, 1))
    return {f.key: 100 * (predicted[f.key] - gold[f.key]) / len(named) for f in FAILURES} if named else {}


def confusion(results: Sequence[ItemResult]) -> dict[str, dict[str, float]]:
    """Share of each predicted type by gold type, over the votes with a predicted type; rows add up to 1."""
    counts: dict[str, Counter[str]] = {}
    for gold, predicted in _named_types(results):
        counts.setdefault(gold, Counter())[predicted] += 1
    return {gold: {f.key: row[f.key] / row.total() for f in FAILURES} for gold, row in sorted(counts.items())}


def _named_types(results: Sequence[ItemResult]) -> list[tuple[str, str]]:
    """The gold type and the predicted one of each vote that names a type."""
    return [
        (result.gold["failure"], vote.verdict.failure)
        for result in results
        for vote in result.votes
        if isinstance(vote.verdict, LocatedVerdict) and vote.verdict.failure
    ]


def _score_gaps(results: Sequence[ItemResult]) -> list[float]:
    """The score of the better conversation minus that of the worse one, where both have one."""
    return [
        result.verdict.scores[better] - result.verdict.scores[1 - better]
        for result in results
        if isinstance(result.verdict, ScoresVerdict)
        for better in ["AB".index(result.gold["better"])]
    ]


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
