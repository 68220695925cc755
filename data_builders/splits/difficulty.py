"""Chooses pairs by the difficulty that a rating of judges gives them (RankJudge, section 3.3)."""

from collections.abc import Collection
from pathlib import Path
from random import Random

from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted
from judge_r1.evaluation.rating.comparison import ITEMS, read_items


def in_band(
    rating: Path, pair_ids: Collection[str], band: tuple[float, float], count: int | None, seed: int
) -> dict[str, float]:
    """The Elo of `count` pairs of a band of difficulty, drawn uniformly, or of all of its pairs, the hardest first.

    The band is a share of the pairs with an Elo in `rating`, counted from the hardest: (0, .2) are the hardest 20 %.

    Raises:
        JudgeError: The band is empty or no part of 0 to 1, the rating is about other pairs, or holds too few.
    """
    low, high = band
    if not 0 <= low < high <= 1:
        raise JudgeError(
            f"a band of difficulty is two shares such as 0,0.2, the smaller one first, not {low:g},{high:g}"
        )
    elo = {row.item: row.elo for row in read_items(rating) if row.elo is not None and row.item in pair_ids}
    if not elo:
        raise JudgeError(f"{rating / ITEMS} gives none of the pairs an Elo: rate judges on these pairs")
    ranked = sorted(elo, key=lambda pair_id: (-elo[pair_id], pair_id))
    inside = ranked[round(low * len(ranked)) : round(high * len(ranked))]
    if not inside or (count or 0) > len(inside):
        raise JudgeError(
            f"the band {low:g} to {high:g} of {counted(len(ranked), 'pair')} with an Elo holds {len(inside)}: take "
            "fewer, or rate judges on more pairs"
        )
    chosen = set(inside if count is None else Random(seed).sample(inside, count))
    return {pair_id: elo[pair_id] for pair_id in inside if pair_id in chosen}
