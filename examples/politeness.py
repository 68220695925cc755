"""A benchmark with a prompt of its own: how polite is the reply to a customer, from 1 to 5?

judge-r1 eval --benchmark politeness --path replies.jsonl --judge direct@https://host/v1#model --out runs/politeness

A line of the file is one reply with the ratings of several people. A judge that is off by one gets half a point.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.verdicts import InvalidVerdict, ScoresVerdict, Verdict
from judge_r1.episode.prompts import user_prompt
from judge_r1.files.tabular import Row, rows
from judge_r1.judges.request import CustomPrompt

PROMPT = """A customer wrote:
{customer}

The reply:
{reply}

How polite is the reply, from 1 (rude) to 5 (kind and helpful)? End with a line "Politeness: N"."""
LAST_LINE = re.compile(r"Politeness: ([1-5])\W*$")


def item_of(row: Row) -> Item:
    """Replies to one customer are a cluster: intervals treat them as dependent."""
    return Item(
        item_id=row.name("id"),
        cluster_id=row.text("customer"),
        group=row.name("team"),
        instruction=row.text("customer"),
        candidates=(row.text("reply"),),
        gold=fmean(row.bounded("people", rating, 5) for rating in row.value("people")),
    )


def task(item: Item, order: Sequence[int]) -> CustomPrompt:
    """What the judge is asked. `user_prompt` keeps texts of the data from being read as marks of the prompt."""
    text = PROMPT.format(customer=item.instruction, reply=item.texts[order[0]])
    return CustomPrompt(user_prompt(text), read)


def read(answer: str) -> Verdict:
    """`answer` is the reply of the judge without its thoughts. What has no rating is invalid, never a guess."""
    found = LAST_LINE.search(answer.strip())
    return ScoresVerdict(scores=(float(found[1]),)) if found else InvalidVerdict(reason="no_rating")


def aggregate(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    """The mean of the votes, such as several samples, and the points for it."""
    ratings = [vote.verdict.scores[0] for vote in votes if isinstance(vote.verdict, ScoresVerdict)]
    if not ratings:
        return AggregatedVerdict(verdict=votes[0].verdict, score=0.0)
    rating = fmean(ratings)
    return AggregatedVerdict(verdict=ScoresVerdict(scores=(rating,)), score=max(0.0, 1 - abs(rating - item.gold) / 2))


def metrics(results: Sequence[ItemResult]) -> dict[str, Any]:
    """How far the ratings are from those of people, over the valid ones."""
    errors = [abs(one.verdict.scores[0] - one.gold) for one in results if isinstance(one.verdict, ScoresVerdict)]
    return {"mean_absolute_error": fmean(errors) if errors else None}


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a team. Errors of `rows` name the file, the row and the field."""
    items = [item for item in map(item_of, rows(path)) if subset in (None, item.group)]
    return LoadedBenchmark(
        items, task=task, presentation_orders=lambda item: [(0,)], aggregate=aggregate, metrics=metrics
    )


BENCHMARKS.register("politeness")(Benchmark("politeness of replies, from 1 to 5", "a file replies.jsonl", load))
