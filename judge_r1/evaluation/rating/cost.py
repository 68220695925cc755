"""What an answer costs: the tokens that a judge writes for one item, and which judges no cheaper one reaches.

Tokens are those that the model wrote, over all orders, samples and turns of an item, thoughts included.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.rating.records import JudgeRating
from judge_r1.evaluation.votes import summarized
from judge_r1.files.evaluation_files import VOTES, refuse_earlier_name

Tokens = Mapping[tuple[str, str], float]
"""(judge, item) -> written tokens."""


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


def written_tokens(folder: Path) -> Tokens:
    """The tokens of each judge and item of an evaluation; empty without votes. An item with an unknown count is left
    out."""
    refuse_earlier_name(folder)
    if not (folder / VOTES).exists():
        return {}
    found: dict[tuple[str, str], float | None] = {}
    for _, _, stored in summarized(folder, read_summary(folder), _Written):
        key = (stored.row, stored.item_id)
        before = found.get(key, 0.0)
        found[key] = None if before is None or stored.tokens is None else before + stored.tokens
    return {key: tokens for key, tokens in found.items() if tokens is not None}


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
