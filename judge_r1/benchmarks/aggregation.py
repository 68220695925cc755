"""Combines the votes on one item into one verdict with a score.

`aggregate_votes` handles every kind of verdict; the other functions are the rules of particular benchmarks for pairs.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.items import AggregatedVerdict, Item, Vote
from judge_r1.core.verdicts import (
    ChecklistVerdict,
    InvalidVerdict,
    PairwiseVerdict,
    RankingVerdict,
    ScoresVerdict,
    Verdict,
    preference,
)

MISSING_SCORE = "missing_score"
"""The reason of an invalid verdict: some candidate has no valid score."""


def aggregate_votes(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    """The default rule: majority for a pair with gold "A", "B" or "tie", the mean for all other items.

    Scores are averaged per candidate, rankings by mean rank, checklists per question. Comparisons of several
    candidates become scores: the share of comparisons won. Invalid votes are left out.

    The type of gold decides how the item is scored:

    * an index (the best candidate): 1 if that candidate alone has the highest score;
    * one score per candidate: the share of the pairs ordered by the gold that the scores order the same way. For a
      single candidate, 1 if the rounded scores are equal;
    * a dict of questions: the share of questions whose mean and gold are on the same side of 0.5.
    """
    if item.gold in ("A", "B", "tie"):
        return majority_vote(item, votes)
    if invalid := all_invalid(votes):
        return AggregatedVerdict(verdict=invalid, score=0.0)
    if checklists := [vote.verdict for vote in votes if isinstance(vote.verdict, ChecklistVerdict)]:
        means = question_means(checklists)
        return AggregatedVerdict(verdict=ChecklistVerdict(scores=means), score=_checklist_score(means, item.gold))
    given: list[list[float]] = [[] for _ in item.candidates]
    for vote in votes:
        for index, score in candidate_scores(vote):
            given[index].append(score)
    if not all(given):
        return AggregatedVerdict(verdict=InvalidVerdict(reason=MISSING_SCORE), score=0.0)
    scores = [mean(values) for values in given]
    verdict: Verdict = ScoresVerdict(scores=tuple(scores))
    if any(isinstance(vote.verdict, RankingVerdict) for vote in votes):
        verdict = RankingVerdict(order=tuple(sorted(range(len(scores)), key=lambda index: -scores[index])))
    return AggregatedVerdict(verdict=verdict, score=_scores_score(scores, item.gold))


def check_gold(item: Item) -> None:
    """Raises: JudgeError for a gold that `aggregate_votes` cannot score."""
    if isinstance(item.gold, str) and item.gold not in ("A", "B", "tie") and len(item.candidates) > 1:
        raise JudgeError(
            f"item {item.item_id}: the gold is {item.gold!r}, but it must be A, B or tie for a pair, the index of the "
            "best candidate, or a score for each candidate"
        )


def majority_vote(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    """The candidate of a pair with more votes, or a tie. Two scores or a ranking of two count as a preference. Invalid
    votes are ignored; an item without a valid vote is invalid.

    With one vote in each order this is JudgeBench's rule: +1 for a vote that agrees with the label, -1 for a vote that
    disagrees, correct if the sum is positive.
    """
    if invalid := all_invalid(votes):
        return AggregatedVerdict(verdict=invalid, score=0.0)
    counts = Counter(vote.winner for vote in votes)
    winner = "tie" if counts[0] == counts[1] else "A" if counts[0] > counts[1] else "B"
    return AggregatedVerdict(verdict=PairwiseVerdict(winner=winner), score=float(winner == item.gold))


def mean_correct(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    """The verdict of `majority_vote`, scored by the share of votes that give the gold: a pair judged correctly in one
    of two orders scores 0.5, as in LLMBar's average accuracy."""
    correct = sum(shown_preference(vote) == item.gold for vote in votes) / len(votes)
    return AggregatedVerdict(verdict=majority_vote(item, votes).verdict, score=correct)


def require_consistent(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    """The verdict of `majority_vote`, correct only if every vote gives the gold (consistent accuracy). A judge whose
    preference changes with the order is wrong, also if the gold is a tie."""
    correct = all(shown_preference(vote) == item.gold for vote in votes)
    return AggregatedVerdict(verdict=majority_vote(item, votes).verdict, score=float(correct))


def best_of_n(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    """Best of n by pairwise votes: correct if the gold candidate beats its rival in every pairing. The verdict counts
    the votes won by each candidate."""
    if invalid := all_invalid(votes):
        return AggregatedVerdict(verdict=invalid, score=0.0)
    # With a 0 for each pairing, so that one without a valid vote counts as not won.
    margins = Counter({frozenset(vote.order): 0 for vote in votes})
    for vote in votes:
        if vote.winner is not None:
            margins[frozenset(vote.order)] += 1 if vote.winner == item.gold else -1
    won = Counter(vote.winner for vote in votes)
    scores = tuple(float(won[index]) for index in range(len(item.candidates)))
    return AggregatedVerdict(
        verdict=ScoresVerdict(scores=scores), score=float(all(margin > 0 for margin in margins.values()))
    )


def all_invalid(votes: Sequence[Vote]) -> InvalidVerdict | None:
    """The first vote's verdict if no vote is valid, else None."""
    first = votes[0].verdict
    if isinstance(first, InvalidVerdict) and all(isinstance(vote.verdict, InvalidVerdict) for vote in votes):
        return first
    return None


def shown_preference(vote: Vote) -> str | None:
    """The vote on a pair in terms of the item's candidates: "A", "B" or "tie"; None if it is invalid."""
    shown = preference(vote.verdict)
    if shown is None or shown == "tie":
        return shown
    return "AB"[vote.order["AB".index(shown)]]


def question_means(checklists: Sequence[ChecklistVerdict]) -> dict[str, float]:
    """The mean score of each question of the first checklist, over those that answer it."""
    names = checklists[0].scores
    return {name: mean(one.scores[name] for one in checklists if name in one.scores) for name in names}


def candidate_scores(vote: Vote) -> list[tuple[int, float]]:
    """(candidate, score): the score itself, minus the rank, or 1, 0.5 or 0 for a comparison won, tied or lost."""
    verdict = vote.verdict
    if isinstance(verdict, ScoresVerdict):
        return list(zip(vote.order, verdict.scores, strict=True))
    if isinstance(verdict, RankingVerdict):
        return [(vote.order[shown], -float(rank)) for rank, shown in enumerate(verdict.order)]
    if isinstance(verdict, PairwiseVerdict):
        tied = verdict.winner == "tie"
        return [(index, 0.5 if tied else float(index == vote.winner)) for index in vote.order]
    return []


def _scores_score(scores: Sequence[float], gold: Any) -> float:
    from judge_r1.statistics.correlation import pair_accuracy

    if len(scores) == 1:
        (expected,) = gold if isinstance(gold, list | tuple) else (gold,)
        return float(round(scores[0]) == expected)
    if isinstance(gold, int):
        return float(all(scores[gold] > score for index, score in enumerate(scores) if index != gold))
    return pair_accuracy(gold, scores).strict or 0.0


def _checklist_score(means: dict[str, float], gold: Any) -> float:
    return mean(float(name in means and (means[name] >= 0.5) == (value >= 0.5)) for name, value in gold.items())


def mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def mean_or_none(values: Iterable[float]) -> float | None:
    """The mean, or None without values."""
    found = list(values)
    return mean(found) if found else None


def majority(labels: Counter[str]) -> str | None:
    """The most frequent label; None without labels or if two are equally frequent."""
    ranked = labels.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]
