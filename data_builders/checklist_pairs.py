"""The data set of pairs of responses that were scored by checklists: its record and its export formats."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from data_builders.dataset_type import DatasetType, RecordFile
from data_builders.exports import AS_RECORDS, Format, Options, Row
from judge_r1.core.checklist import Checklist
from judge_r1.core.record_base import NonEmpty, Record, content_hash
from judge_r1.core.verdicts import Comparison, Preference
from judge_r1.episode.checklist_reward import COMPARISON, LOWER
from judge_r1.episode.prompts import plain_prompt

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

    def messages(self) -> list[dict[str, str]]:
        """The prompt: system and user."""
        fields = {
            "instruction": self.instruction,
            "response_a": self.response_a,
            "response_b": self.response_b,
            "checklist": json.dumps(Checklist.of(self.questions).entries(), ensure_ascii=False),
        }
        return plain_prompt(STYLE, fields).chat()


def labels(pair: ChecklistPair) -> Mapping[str, Iterable[str]]:
    return {"by_task": [pair.task], "by_preferred": [pair.preferred], "by_lower_items": [str(len(pair.lower))]}


PAIR_FILE = RecordFile("pair", "pairs.jsonl", ChecklistPair, "pair_id", labels)


def _sft(pair: ChecklistPair, index: int, split: str) -> dict[str, Any]:
    system, user = pair.messages()
    shown = {"instruction": system["content"], "input": user["content"], "output": pair.answer}
    return {**shown, "pair_id": pair.pair_id}


def _trl_sft(pair: ChecklistPair, index: int, split: str) -> dict[str, Any]:
    return {"messages": [*pair.messages(), {"role": "assistant", "content": pair.answer}], "pair_id": pair.pair_id}


def _trl_grpo(pair: ChecklistPair, index: int, split: str) -> dict[str, Any]:
    return {
        "prompt": pair.messages(), COMPARISON: pair.comparison, LOWER: list(pair.lower), "pair_id": pair.pair_id,
    }  # fmt: skip


def _notes(options: Options) -> Sequence[str]:
    return [
        "Answers: one JSON object with `comparison` and `lower_items`, the questions on which the worse response "
        "scores lower."
    ]


def _tables(**tables: Row[ChecklistPair]) -> Any:
    return lambda options: tables


class ChecklistPairDataset(DatasetType[ChecklistPair]):
    """Pairs of responses. An example is a pair."""

    files = (PAIR_FILE,)
    main = PAIR_FILE
    title = "Pairs of long responses, compared by checklists"
    description = (
        "Which of two responses is better by a weighted checklist, and on which questions the other is lower.",
    )
    tags = ("llm-as-a-judge", "preference", "long-text")

    def formats(self) -> Mapping[str, Format[ChecklistPair]]:
        columns = {"system": "instruction", "prompt": "input", "response": "output"}
        llama = {"sft": {"formatting": "alpaca", "columns": columns}}
        return {
            "jsonl": AS_RECORDS,
            "sft": Format("instruction, input, output, for LLaMA-Factory", _tables(sft=_sft), _notes, llama),
            "trl": Format(
                "messages for SFT, prompts with gold columns for GRPO", _tables(sft=_trl_sft, grpo=_trl_grpo), _notes
            ),
        }
