"""Writes a folder that `judge-r1 rate` might have written, from the Elo of its items."""

import json
from collections.abc import Mapping
from pathlib import Path

from judge_r1.evaluation.rating.records import ITEMS, RATING, Rating, digested
from judge_r1.files.digests import LinesDigest


def write_rating(folder: Path, elo: Mapping[str, float | None]) -> Path:
    """The folder. An item without an Elo is uninformative."""
    folder.mkdir(exist_ok=True)
    rows = [
        {"schema": 1, "item": item, "cluster": "d", "status": "rated" if value else "uninformative", "elo": value,
         "se": None, "points": 1, "votes": 2}
        for item, value in elo.items()
    ]  # fmt: skip
    (folder / ITEMS).write_text("".join(json.dumps(row) + "\n" for row in rows))
    rating = Rating(schema=2, options={}, slices=(), slices_agree=(None, None), breakdowns=(), stability=(), invalid={})
    (folder / RATING).write_text(json.dumps(digested(rating, LinesDigest.of(folder / ITEMS))))
    return folder
