"""The forms of checklist answers, for constrained decoding on a local model."""

import json
from collections.abc import Sequence

from judge_r1.core.checklist import Checklist
from judge_r1.episode.answer_form import AnswerWriter

REASON_TOKENS, QUERY_TOKENS = 48, 24
"""The longest reason of one answer, and the longest query."""
RESPONSE_TOKENS = 1024
"""The room for an answer that a judge with constrained decoding reserves in the model's context: about twelve
questions. Forms bound the answer themselves."""


async def write_answers(writer: AnswerWriter, checklist: Checklist) -> str:
    """The JSON list that the one-call prompt asks for: per question its number, a reason, and one of its levels."""
    answers = []
    for number, criterion in enumerate(checklist.criteria):
        writer.add(f'{", " if number else "["}{{"checklist_id": {number}, "reason": "')
        reason = await _reason(writer)
        score = await _score(writer, criterion.levels)
        answers.append({"checklist_id": number, "reason": reason, "evaluation_score": score})
    return _dumped(answers)


async def write_answer(writer: AnswerWriter, levels: Sequence[float], passages: int) -> str:
    """The JSON object that the prompt of one question asks for: a reason, the number of a passage, and a level."""
    answer: dict[str, object] = {}
    writer.add('{"reason": "')
    answer["reason"] = await _reason(writer)
    if passages:
        writer.add('"passage": ')
        answer["passage"] = int(await writer.choose([str(number) for number in range(1, passages + 1)], end=", "))
    answer["evaluation_score"] = await _score(writer, levels)
    return _dumped(answer)


async def write_queries(writer: AnswerWriter, count: int) -> str:
    """At most `count` lines; an empty one is the last."""
    lines: list[str] = []
    while len(lines) < count and (line := (await writer.write(QUERY_TOKENS))[0].strip()):
        lines.append(line)
        writer.add(line + "\n")
    return "\n".join(lines)


def _dumped(value: object) -> str:
    """JSON without `<`, so that no tag of a thought in a reason hides the answer."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


async def _reason(writer: AnswerWriter) -> str:
    """Free text up to a quotation mark, in one line. It continues the answer as the inside of a JSON string."""
    text, _ = await writer.write(REASON_TOKENS, end='"')
    reason = " ".join(text.split()).rstrip("\\")
    writer.add(json.dumps(reason, ensure_ascii=False)[1:] + ", ")
    return reason


async def _score(writer: AnswerWriter, levels: Sequence[float]) -> float:
    writer.add('"evaluation_score": ')
    return float(await writer.choose([f"{level:g}" for level in levels], end="}"))
