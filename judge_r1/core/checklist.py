"""Checklists: weighted questions about one text, and the score that their answers give."""

import json
import math
from collections.abc import Iterable, Sequence

from pydantic import Field, field_validator, model_validator

from judge_r1.core.record_base import NonEmpty, NotBlank, Record, content_hash

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The scores of one question (HelloBench, section 3.3)."""
OVERALL_BEST = 10.0
"""The best score of a text as a whole, by people and by LLM-Eval; the lowest is 0."""


class Criterion(Record):
    """One question. A positive weight rewards a yes; a negative weight is for a fault and deducts for a yes.

    `choices` are the possible answers from worst to best, with evenly spaced scores; without them, the answer is one of
    the five `LEVELS`.
    """

    question: NotBlank
    weight: float = Field(1.0, allow_inf_nan=False)
    choices: tuple[NonEmpty, ...] = ()

    @property
    def levels(self) -> tuple[float, ...]:
        """The scores that an answer may have."""
        return tuple(n / (len(self.choices) - 1) for n in range(len(self.choices))) if self.choices else LEVELS

    @field_validator("choices")
    @classmethod
    def _two_choices(cls, choices: tuple[str, ...]) -> tuple[str, ...]:
        if choices and (len(choices) < 2 or len(set(choices)) < len(choices)):
            raise ValueError("needs at least two different choices")
        return choices

    @field_validator("weight")
    @classmethod
    def _not_zero(cls, weight: float) -> float:
        if weight == 0:
            raise ValueError("must not be 0: such a question cannot change the score; remove it")
        return weight


class Checklist(Record):
    """Questions in a fixed order. The id of a question is its position, from 0."""

    criteria: tuple[Criterion, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _some_reward(self) -> "Checklist":
        if not any(criterion.weight > 0 for criterion in self.criteria):
            raise ValueError("no criterion has a positive weight, so every score would be 0")
        return self

    @classmethod
    def of(cls, questions: Sequence[str], weights: Sequence[float] | None = None) -> "Checklist":
        """The checklist of `questions`; without weights, all weights are equal."""
        given = [1.0] * len(questions) if weights is None else weights
        return cls(criteria=tuple(Criterion(question=q, weight=w) for q, w in zip(questions, given, strict=True)))

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(criterion.question for criterion in self.criteria)

    @property
    def weights(self) -> tuple[float, ...]:
        return tuple(criterion.weight for criterion in self.criteria)

    @property
    def digest(self) -> str:
        """Identifies the questions, their weights and their choices."""
        return content_hash("checklist", [[c.question, c.weight, list(c.choices)] for c in self.criteria])

    @property
    def shown(self) -> str:
        """The questions as a prompt shows them: a JSON list (HelloBench, `formatted_checklists`)."""
        entries = [
            {"checklist_id": number, "checklist_content": criterion.question}
            | ({"scores": dict(zip(criterion.choices, criterion.levels, strict=True))} if criterion.choices else {})
            for number, criterion in enumerate(self.criteria)
        ]
        return json.dumps(entries, ensure_ascii=False)

    def score(self, answers: Iterable[float]) -> float:
        """The weighted score in [0, 1] of an answer to each question, in order."""
        return weighted_score(self.weights, list(answers))


def weighted_score(weights: Sequence[float], scores: Sequence[float]) -> float:
    """Σ w·s / Σ max(w, 0), limited to [0, 1]. With positive weights it is the weighted mean of HelloEval (section 3.3),
    a hundredth of the paper's 0 to 100. Negative weights deduct; the best text has all rewards and no fault.

    Raises:
        ValueError: The lengths differ, or no weight is positive.
    """
    total = math.fsum(weight for weight in weights if weight > 0)
    if total <= 0:
        raise ValueError("no weight is positive")
    return min(max(math.fsum(w * s for w, s in zip(weights, scores, strict=True)) / total, 0.0), 1.0)
