"""A pair of responses that were scored by a checklist: its record, its prompt and its gold answer."""

import json
from typing import Literal

from pydantic import Field, model_validator

from judge_r1.core.checklist import Checklist
from judge_r1.core.record_base import NonEmpty, Record, content_hash
from judge_r1.core.verdicts import Comparison, Preference
from judge_r1.episode.checklist_reward import COMPARISON, LOWER
from judge_r1.episode.prompts import Prompt, plain_prompt

STYLE = "checklist-pair"


class ChecklistPair(Record):
    """Two responses to one instruction. `preferred` has the higher weighted score, of 100; `lower` are the questions on
    which the other one scores lower, from 0. `weights` names the weights, with the hash of their file."""

    schema_: Literal[1] = Field(1, alias="schema")
    pair_id: NonEmpty
    instruction_id: NonEmpty
    task: NonEmpty
    category: NonEmpty
    instruction: NonEmpty
    questions: tuple[NonEmpty, ...] = Field(min_length=1)
    response_a: NonEmpty
    response_b: NonEmpty
    systems: tuple[NonEmpty, NonEmpty]
    preferred: Preference
    lower: tuple[int, ...] = Field(min_length=1)
    scores: tuple[float, float]
    weights: NonEmpty

    @model_validator(mode="after")
    def _consistent(self) -> "ChecklistPair":
        count, (first, second) = len(self.questions), self.scores
        if list(self.lower) != sorted(set(self.lower)) or not 0 <= self.lower[0] <= self.lower[-1] < count:
            raise ValueError(f"lower {list(self.lower)} must be sorted numbers of the {count} questions")
        if first == second or (first > second) != (self.preferred == "A"):
            raise ValueError(f"preferred is {self.preferred!r}, but the scores are {first} and {second}")
        if self.pair_id != content_hash(self.instruction_id, sorted([self.response_a, self.response_b])):
            raise ValueError(f"pair_id {self.pair_id} does not match its content: build the file again")
        return self

    @property
    def comparison(self) -> Comparison:
        return "A>B" if self.preferred == "A" else "A<B"

    @property
    def answer(self) -> str:
        """The gold answer."""
        return json.dumps({COMPARISON: self.comparison, LOWER: list(self.lower)})

    def prompt(self, order: tuple[int, ...] = (0, 1)) -> Prompt:
        """The question which response is better, with the responses shown in `order`."""
        responses = self.response_a, self.response_b
        fields = {
            "instruction": self.instruction,
            "response_a": responses[order[0]],
            "response_b": responses[order[1]],
            "checklist": Checklist.of(self.questions).shown,
        }
        return plain_prompt(STYLE, fields)
