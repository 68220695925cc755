"""The reward of a comparison by a checklist: the paper's Eq. 5 to 8, with questions in the place of principles."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from judge_r1.core.verdicts import Comparison
from judge_r1.episode.json_objects import json_objects
from judge_r1.episode.reward import combine, f1
from judge_r1.episode.thoughts import without_thoughts

COMPARISON, LOWER = "comparison", "lower_items"


class CheckedComparison(NamedTuple):
    """An answer `{"comparison": "A>B", "lower_items": [0, 2]}`."""

    comparison: Comparison
    lower: tuple[int, ...]


def read_comparison(text: str) -> CheckedComparison | None:
    """The last such answer in a text; None if it cannot be read."""
    found = [answer for answer in json_objects(without_thoughts(text)) if COMPARISON in answer]
    if not found or found[-1][COMPARISON] not in ("A>B", "A<B"):
        return None
    named = found[-1].get(LOWER)
    if not isinstance(named, list) or not all(isinstance(item, int) and not isinstance(item, bool) for item in named):
        return None
    return CheckedComparison(found[-1][COMPARISON], tuple(named))


def comparison_score(text: str, gold: Comparison, lower: Collection[int]) -> float:
    """r = (R1 + R2 + 3)/6 of an answer: R1 = ±2 for the comparison, and R2 = 2(F1 - 0.5) for the questions on which the
    worse response is lower. 0 for an answer that cannot be read."""
    if (found := read_comparison(text)) is None:
        return 0.0
    return combine(2.0 if found.comparison == gold else -2.0, 2 * (f1(found.lower, lower) - 0.5))


def checklist_reward(
    completions: Sequence[Any], comparison: Sequence[Comparison], lower_items: Sequence[Sequence[int]], **columns: Any
) -> list[float]:
    """`comparison_score` as a reward function of TRL's GRPOTrainer, for the table `grpo` of the export `trl`. A
    completion is a text or a list of messages."""
    texts = [text if isinstance(text, str) else str(text[-1]["content"]) for text in completions]
    return [comparison_score(*row) for row in zip(texts, comparison, lower_items, strict=True)]
