"""Rates judges on the fixed scale of an earlier rating, each judge alone."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.rating.comparison import ITEMS, read_items
from judge_r1.evaluation.rating.records import ItemRating, JudgeRating
from judge_r1.evaluation.rating.slices import known_error
from judge_r1.evaluation.rating.vote_files import Votes
from judge_r1.statistics.rating.anchored import anchored_rating
from judge_r1.statistics.rating.errors import Z95


def read_scale(folder: Path) -> dict[str, ItemRating]:
    """The items of a rating that have a finite difficulty and were kept.

    Raises:
        JudgeError: The folder holds no such item.
    """
    found = {row.item: row for row in read_items(folder) if row.status == "rated"}
    if not found:
        raise JudgeError(f"{folder / ITEMS} holds no rated item: give a folder of `judge-r1 rate`")
    return found


def rate_on_scale(votes: Votes, scale: Mapping[str, ItemRating]) -> list[JudgeRating]:
    """The rating of each judge on the items of the scale that it answered, the best first. The difficulties do not
    change, so ratings of different days compare.

    Raises:
        JudgeError: A judge answered no item of the scale.
    """
    rows = []
    for judge in sorted(votes.answers):
        own = [(item, score) for name, item, score in votes.votes if name == judge and item in scale]
        if not own:
            raise JudgeError(f"judge {judge!r} answered no item of the scale: evaluate it on the items of that rating")
        elo = np.array([scale[item].elo for item, _ in own], dtype=np.float64)
        points = np.array([score for _, score in own])
        clusters = np.unique([scale[item].cluster for item, _ in own], return_inverse=True)[1].astype(np.int64)
        found = anchored_rating(elo, points, clusters)
        finite, error = found.se is not None, known_error(found.se or 0.0)
        interval = (found.elo - Z95 * error, found.elo + Z95 * error) if error is not None else None
        rows.append(
            JudgeRating(
                judge=judge,
                status="rated" if finite else "above" if found.elo > 0 else "below",
                elo=found.elo if finite else None,
                se=error,
                ci95=interval,
                accuracy=float(points.mean()),
                votes=len(own),
            )
        )
    sides = {"above": float("inf"), "below": float("-inf")}
    return sorted(rows, key=lambda row: (-(sides[row.status] if row.elo is None else row.elo), row.judge))
