"""Answers rated one by one, from 1 to 10: the prompt, how its answer is read, and RewardBench 2's score of Ties."""

import math
import re
from collections.abc import Sequence

from judge_r1.benchmarks.aggregation import all_invalid
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.records import InvalidVerdict, ScoresVerdict, Verdict
from judge_r1.episode.prompts import rating_prompt
from judge_r1.judges.request import CustomPrompt

_RATING = re.compile(r"^\W*rating\W+(10|[1-9])\W*$", re.IGNORECASE)


def rating_question(request: str, answer: str) -> CustomPrompt:
    return CustomPrompt(rating_prompt(request, answer), read_rating)


def read_rating(text: str) -> Verdict:
    """The rating in the last line that is not blank, which must read `Rating: N`, N from 1 to 10."""
    lines = [line for line in text.splitlines() if line.strip()]
    match = _RATING.match(lines[-1].strip()) if lines else None
    return ScoresVerdict(scores=(float(match[1]),)) if match else InvalidVerdict(reason="no_rating")


def aggregate_ratings(item: Item, games: Sequence[Vote]) -> AggregatedVerdict:
    """The mean rating of each candidate; right where each of the first `gold` ones is rated above all others. A
    candidate without a valid rating makes the item invalid."""
    ratings: list[list[float]] = [[] for _ in item.candidates]
    for game in games:
        if isinstance(game.verdict, ScoresVerdict):
            ratings[game.order[0]].append(game.verdict.scores[0])
    if not all(ratings):
        return AggregatedVerdict(verdict=all_invalid(games) or InvalidVerdict(reason="missing_rating"), score=0.0)
    scores = tuple(sum(given) / len(given) for given in ratings)
    return AggregatedVerdict(verdict=ScoresVerdict(scores=scores), score=float(_margins(scores, item.gold)[1] > 0))


def ties_score(outcomes: Sequence[ItemResult]) -> float | None:
    """0.3·accuracy(tied) + 0.3·accuracy(ref) + 0.2·P(gap > spread) + 0.2·P(min(gap, gap of ref) > spread)
    + 0.01·mean tanh(min(gap, gap of ref)/spread - 1), the last three over questions with both a `tied:N` and a `ref:N`.

    gap: worst right answer minus best wrong one; spread: best minus worst right answer of `tied:N`. 0/0 counts 0, as in
    the public scoring. A question with an invalid rating is wrong and has no margins: it counts 0 in each term. None
    unless there are questions of both kinds.
    """
    found: dict[str, dict[str, tuple[float, float] | None]] = {"ref": {}, "tied": {}}
    for outcome in outcomes:
        kind, _, number = outcome.item_id.rpartition("/")[2].partition(":")
        verdict = outcome.verdict
        found[kind][number] = _margins(verdict.scores, outcome.gold) if isinstance(verdict, ScoresVerdict) else None
    ref, tied = found["ref"], found["tied"]
    both = [number for number in tied if number in ref]
    if not both:
        return None
    soft, hard, slope = 0, 0, 0.0
    for number in both:
        one, other = tied[number], ref[number]
        soft += one is not None and one[1] > one[0]
        if one is not None and other is not None:
            gap = min(one[1], other[1])
            hard += gap > one[0]
            slope += _tanh(gap, one[0])
    return (
        0.3 * _right(list(tied.values()))
        + 0.3 * _right(list(ref.values()))
        + (0.2 * soft + 0.2 * hard + 0.01 * slope) / len(both)
    )


def _margins(scores: Sequence[float], right: int) -> tuple[float, float]:
    """(spread, gap)."""
    return max(scores[:right]) - min(scores[:right]), min(scores[:right]) - max(scores[right:])


def _right(margins: Sequence[tuple[float, float] | None]) -> float:
    return sum(margin is not None and margin[1] > 0 for margin in margins) / len(margins)


def _tanh(gap: float, spread: float) -> float:
    if spread == 0:
        return math.copysign(1.0, gap) if gap else 0.0
    return math.tanh(gap / spread - 1)
