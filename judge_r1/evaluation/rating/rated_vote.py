"""One answer of a judge, as a rating counts it."""

from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from judge_r1.benchmarks.rankjudge.scoring import NamedTypes

Criterion = Literal["score", "side+round", "side"]
"""What must be right: everything, as the benchmark scores it; of conversations only the better side and the flawed
round, or only the side."""
GROUP, WRITER = "group", "generator"
"""Labels of an item: its group, such as a domain, and who wrote it."""


class RatedVote(NamedTuple):
    """One answer. `score` is None for an invalid one; `labels` describe the item, such as its group. `types` counts
    (gold type, named type) of a judge of conversations."""

    judge: str
    item: str
    score: float | None
    cluster: str
    labels: dict[str, str]
    tokens: float | None = None
    types: NamedTypes = MappingProxyType({})


def text_fields(gold: Any) -> dict[str, str]:
    """The labels in a gold that is a mapping, such as the failure type of a pair of conversations."""
    return {str(k): v for k, v in gold.items() if isinstance(v, str)} if isinstance(gold, dict) else {}
