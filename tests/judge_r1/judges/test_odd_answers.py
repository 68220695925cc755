"""Whatever value stands in an answer, every parser returns a verdict that a file can hold."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from judge_r1.benchmarks.pointwise import read_rating
from judge_r1.benchmarks.rankjudge.prompt import read_pairwise, read_pointwise
from judge_r1.core.checklist import Checklist
from judge_r1.core.verdicts import Judgment
from judge_r1.episode.located_answer import parse_located
from judge_r1.episode.parsing import (
    Rejected,
    parse_last_object,
    parse_strict,
    parse_table6,
    parse_table6_tolerant,
    parse_tolerant,
)
from judge_r1.judges.checklist.task import read_answers, read_one_score, read_overall

HUGE = "9" * 400
ODD = (
    "NaN", "Infinity", "1e999", HUGE, f'"{HUGE}"', '"nan"', '"1e999"', '"²"', '"1_0"', '"half a pair: \\ud83d"', '""',
    "null", "true", "-1", "1.5", "[]", "[[1]]", "{}", '{"a": {"b": 1}}',
)  # fmt: skip
PAIR = {"comparison": '"A>B"', "violated_principles": "[1]", "explanation": '"x"'}
LOCATED = {"worst_round": "1", "problem_type": '"A"', "verdict": '"A"', "analysis": '"x"'}
SINGLE = {"score": "5", "is_flawed": "true", "worst_round": "1", "problem_type": '"A"'}
CHECKLIST = {"checklist_id": "0", "evaluation_score": "1", "reason": '"x"', "passage": "1"}
LEVELS = (0.0, 0.5, 1.0)
READERS: dict[str, tuple[Callable[[str], Any], dict[str, str]]] = {
    "strict": (parse_strict, PAIR),
    "tolerant": (parse_tolerant, PAIR),
    "last object": (parse_last_object, PAIR),
    "table 6": (parse_table6, PAIR),
    "table 6, tolerant": (parse_table6_tolerant, PAIR),
    "located": (parse_located, LOCATED),
    "conversations": (read_pairwise, LOCATED),
    "conversations, strict": (partial(read_pairwise, strict=True), LOCATED),
    "one conversation": (read_pointwise, SINGLE),
    "checklist": (partial(read_answers, checklist=Checklist.of(["Is it long?"])), CHECKLIST),
    "one question": (partial(read_one_score, levels=LEVELS), CHECKLIST),
    "overall": (read_overall, CHECKLIST),
    "rating": (read_rating, SINGLE),
}


def answers(fields: dict[str, str]) -> Iterator[str]:
    for name in fields:
        for value in ODD:
            json_object = ", ".join(f'"{key}": {given}' for key, given in {**fields, name: value}.items())
            yield f"{{{json_object}}}"
            yield f"I think: [{{{json_object}}}]"
            yield f"A>B\nviolated_principles: [{value}]\nRating: {value}"


@pytest.mark.parametrize("reader", READERS)
def test_every_answer_has_a_verdict_that_can_be_written(reader: str) -> None:
    read, fields = READERS[reader]
    for text in answers(fields):
        found = read(text)
        assert isinstance(found, Rejected) or json.loads(found.model_dump_json())
        if isinstance(found, Judgment):
            assert found.verdict.kind != "invalid"
