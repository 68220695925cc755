"""Ratings of one answer from 1 to 10 and the best of several: prompts, parsers, and RewardBench 2's Ties score."""

import math
import re
from collections.abc import Sequence
from functools import partial

from judge_r1.benchmarks.aggregation import all_invalid, mean
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.verdicts import InvalidVerdict, ScoresVerdict, Verdict
from judge_r1.episode.prompts import best_prompt, rating_prompt
from judge_r1.judges.request import CustomPrompt, answer_fields

_RATING = re.compile(r"^\W*rating\W+(10|[1-9])(?:\s*(?:/|out of)\s*10)?\W*$", re.IGNORECASE)
_BEST = re.compile(r"^\W*best\W+([0-9]{1,4})\W*$", re.IGNORECASE)


def rating_question(request: str, answer: str) -> CustomPrompt:
    return CustomPrompt(rating_prompt(request, answer), read_rating, fields=answer_fields(request, [answer]))


def best_question(request: str, answers: Sequence[str]) -> CustomPrompt:
    """All answers in one prompt, as RewardBench 2 asks judges that write."""
    read = partial(read_best, count=len(answers))
    return CustomPrompt(best_prompt(request, answers), read, fields=answer_fields(request, answers))


def read_rating(text: str) -> Verdict:
    """Parses the last non-blank line, which must be `Rating: N` or `Rating: N/10` with N from 1 to 10."""
    lines = [line for line in text.splitlines() if line.strip()]
    match = _RATING.match(lines[-1].strip()) if lines else None
    return ScoresVerdict(scores=(float(match[1]),)) if match else InvalidVerdict(reason="no_rating")


def read_best(text: str, count: int) -> Verdict:
    """Parses the last non-blank line, `Best: N` with N from 1 to `count`. That answer has the score 1, the others 0."""
    lines = [line for line in text.splitlines() if line.strip()]
    match = _BEST.match(lines[-1].strip()) if lines else None
    if not match or not 1 <= int(match[1]) <= count:
        return InvalidVerdict(reason="no_best")
    return ScoresVerdict(scores=tuple(float(number == int(match[1])) for number in range(1, count + 1)))


def aggregate_ratings(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    """The mean rating of each candidate. The item is correct if each of the first `gold` candidates is rated above all
    others, and invalid if a candidate has no valid rating."""
    ratings: list[list[float]] = [[] for _ in item.candidates]
    for vote in votes:
        if isinstance(vote.verdict, ScoresVerdict):
            ratings[vote.order[0]].append(vote.verdict.scores[0])
    if not all(ratings):
        return AggregatedVerdict(verdict=all_invalid(votes) or InvalidVerdict(reason="missing_rating"), score=0.0)
    scores = tuple(mean(given) for given in ratings)
    return AggregatedVerdict(verdict=ScoresVerdict(scores=scores), score=float(_margins(scores, item.gold)[1] > 0))


def ties_score(results: Sequence[ItemResult]) -> float | None:
    """0.3·accuracy(tied) + 0.3·accuracy(ref) + 0.2·P(gap > spread) + 0.2·P(min(gap, gap of ref) > spread)
    + 0.01·mean tanh(min(gap, gap of ref)/spread - 1), the last three over questions with both a `tied:N` and a `ref:N`.

    gap: rating of the worst correct answer minus the best wrong one. spread: best minus worst correct answer of
    `tied:N`. 0/0 counts as 0, as in the public scoring script. A question with an invalid rating counts 0 in every
    term. None unless some question has both kinds.
    """
    margins: dict[str, dict[str, tuple[float, float] | None]] = {"ref": {}, "tied": {}}
    for result in results:
        kind, _, number = result.item_id.rpartition("/")[2].partition(":")
        verdict = result.verdict
        margins[kind][number] = _margins(verdict.scores, result.gold) if isinstance(verdict, ScoresVerdict) else None
    ref, tied = margins["ref"], margins["tied"]
    shared = [number for number in tied if number in ref]
    if not shared:
        return None
    tied_correct, both_correct, margin_sum = 0, 0, 0.0
    for number in shared:
        tied_margins, ref_margins = tied[number], ref[number]
        tied_correct += tied_margins is not None and tied_margins[1] > tied_margins[0]
        if tied_margins is not None and ref_margins is not None:
            gap = min(tied_margins[1], ref_margins[1])
            both_correct += gap > tied_margins[0]
            margin_sum += _tanh(gap, tied_margins[0])
    return (
        0.3 * mean(margin is not None and margin[1] > 0 for margin in tied.values())
        + 0.3 * mean(margin is not None and margin[1] > 0 for margin in ref.values())
        + (0.2 * tied_correct + 0.2 * both_correct + 0.01 * margin_sum) / len(shared)
    )


def _margins(scores: Sequence[float], right: int) -> tuple[float, float]:
    """(spread, gap)."""
    return max(scores[:right]) - min(scores[:right]), min(scores[:right]) - max(scores[right:])


def _tanh(gap: float, spread: float) -> float:
    if spread == 0:
        return math.copysign(1.0, gap) if gap else 0.0
    return math.tanh(gap / spread - 1)
