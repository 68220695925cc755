"""What an answer costs: the tokens that a judge writes for one item or its price, and which judges no cheaper one
reaches (RankJudge, Fig. 4).

Tokens are those that the model wrote, over all orders, samples and turns of an item, thoughts included.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import suggest
from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.rating.records import JudgeRating, Rating
from judge_r1.evaluation.report.charts import Figure
from judge_r1.evaluation.report.point_charts import scatter_chart
from judge_r1.evaluation.votes import summarized
from judge_r1.files.evaluation_files import VOTES, refuse_earlier_name


class Used(NamedTuple):
    """The tokens of an item. `read` is None where no server counted the input."""

    written: float
    read: float | None


Tokens = Mapping[tuple[str, str], Used]
"""(judge, item) -> tokens."""
Prices = Mapping[str, tuple[float, float]]
"""Judge -> USD of a token read, and of one written."""


class _Episode(BaseModel):
    model_config = ConfigDict(extra="ignore")
    text_only: bool = False
    loss_mask: tuple[int, ...] = ()


class _Written(BaseModel):
    """The fields of a vote that count."""

    model_config = ConfigDict(extra="ignore")
    row: str
    item_id: str
    trajectory: _Episode
    usage: dict[str, float] | None = None

    @property
    def tokens(self) -> float | None:
        """By the server's count if there is one, else the ids that the policy sampled; None where both are unknown."""
        if self.usage and "output_tokens" in self.usage:
            return self.usage["output_tokens"]
        return None if self.trajectory.text_only else float(sum(self.trajectory.loss_mask))


def used_tokens(folder: Path) -> Tokens:
    """The tokens of each judge and item of an evaluation; empty without votes. An item whose written tokens are unknown
    is left out."""
    refuse_earlier_name(folder)
    if not (folder / VOTES).exists():
        return {}
    found: dict[tuple[str, str], Used | None] = {}
    for _, _, stored in summarized(folder, read_summary(folder), _Written):
        key = (stored.row, stored.item_id)
        before, read = found.get(key, Used(0.0, 0.0)), (stored.usage or {}).get("input_tokens")
        if before is None or stored.tokens is None:
            found[key] = None
        else:
            whole = None if read is None or before.read is None else before.read + read
            found[key] = Used(before.written + stored.tokens, whole)
    return {key: used for key, used in found.items() if used is not None}


def priced(rating: Rating, read: Mapping[str, float], prices: Prices, date: str) -> Rating:
    """The rating with the mean cost of a match in USD, by prices of `date`. `read` has the mean tokens read of each
    judge that reads a known number.

    Raises:
        JudgeError: A price is of no judge, or no judge has a price and known tokens.
    """
    judges = [judge.judge for judge in rating.slices[0].judges]
    if unknown := [name for name in prices if name not in judges]:
        raise JudgeError(f"prices: no judge is named {unknown[0]!r}{suggest(unknown[0], judges)}")
    usd = {
        judge: prices[judge][0] * read[judge] + prices[judge][1] * rating.tokens[judge]
        for judge in judges
        if judge in prices and judge in read and judge in rating.tokens
    }
    if not usd:
        raise JudgeError("prices: of no judge with a price are the tokens known, read (`input_tokens`) and written")
    front = tuple(judge.judge for judge in cost_front(rating.slices[0].judges, usd))
    return rating.model_copy(update={"usd": usd, "usd_front": front, "prices_date": date})


def cost_figures(rating: Rating) -> list[Figure]:
    """Elo against the written tokens, and on a logarithmic axis against USD, with the Pareto fronts (Fig. 4)."""
    elo = {judge.judge: judge.elo for judge in rating.slices[0].judges if judge.elo is not None}
    figures = []
    if points := {name: (tokens, elo[name]) for name, tokens in rating.tokens.items() if name in elo}:
        svg = scatter_chart("Elo against written tokens per match", points, rating.front)
        figures.append(Figure("Elo by written tokens per match", svg, {}))
    if points := {name: (math.log10(usd), elo[name]) for name, usd in rating.usd.items() if name in elo and usd > 0}:
        front = [name for name in rating.usd_front if name in points]
        svg = scatter_chart("Elo against USD per match", points, front, text_of=lambda x: f"${10**x:.2g}")
        figures.append(Figure("Elo by USD per match", svg, {}, f"Prices of {rating.prices_date}."))
    return figures


def cost_front(judges: Sequence[JudgeRating], tokens: Mapping[str, float]) -> list[JudgeRating]:
    """The rated judges that no other one beats with at most as many tokens (Pareto front), the cheapest first."""
    known = sorted(
        (
            (tokens[judge.judge], -judge.elo, judge)
            for judge in judges
            if judge.elo is not None and judge.judge in tokens
        ),
        key=lambda found: found[:2],
    )
    front: list[JudgeRating] = []
    for _, negative, judge in known:
        if not front or front[-1].elo is None or -negative > front[-1].elo:
            front.append(judge)
    return front
