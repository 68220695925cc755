"""The task to answer a checklist about one text: its prompt, the parsers of the answers, and their forms.

A form is for a local model that writes the answer by constrained decoding.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from judge_r1.core.checklist import OVERALL_BEST, Checklist
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, ScoresVerdict, Verdict
from judge_r1.episode.answer_form import ModelWriter
from judge_r1.episode.parsing import is_text
from judge_r1.episode.prompts import plain_prompt, template_hash
from judge_r1.episode.readable_json import number_within, readable_values
from judge_r1.judges.request import CustomPrompt, TokenLimits

STYLE = "checklist"
REASON_TOKENS, QUERY_TOKENS = 48, 24
"""The longest reason of one answer, and the longest query."""
RESPONSE_TOKENS = 1024
"""The room for an answer that a judge with constrained decoding reserves in the model's context: about twelve
questions. Forms bound the answer themselves."""
LIMITS = TokenLimits(prompt_tokens=200_000, response_tokens=4096)
"""A checklist needs room for its reasons (the release's max_tokens), and its texts are long."""
CONSTRAINED_LIMITS = TokenLimits(prompt_tokens=200_000, response_tokens=RESPONSE_TOKENS)
"""The same for constrained decoding, whose reasons are short."""
_ID, _SCORE, _REASON = "checklist_id", "evaluation_score", "reason"


@dataclass(frozen=True)
class ChecklistTask(CustomPrompt):
    """All questions in one prompt (HelloEval, Figure 9). `instruction` is what `response` answers."""

    instruction: str
    response: str
    checklist: Checklist


def checklist_task(instruction: str, response: str, checklist: Checklist) -> ChecklistTask:
    prompt = plain_prompt(STYLE, {"instruction": instruction, "response": response, "checklist": checklist.shown})
    read, form = partial(read_answers, checklist=checklist), partial(write_answers, checklist=checklist)
    return ChecklistTask(prompt, read, instruction, response, checklist, form=form)


def prompt_hash() -> str:
    """Identifies the wording of the one-call prompt."""
    return template_hash(f"{STYLE}_system", f"{STYLE}_user")


def read_answers(text: str, checklist: Checklist) -> Verdict:
    """The scores and reasons in a reply: one object with `checklist_id`, `reason` and `evaluation_score` per question.

    JSON anywhere in the text is read, with the usual slips (`judge_r1.episode.readable_json`). Nothing is rounded or
    filled in: the ids must be those of the questions, once each, and a score must be one of the question's levels.
    Otherwise the verdict is invalid, as `no_answers`, `missing_item`, `unknown_item`, `repeated_item` or `bad_score`.
    """
    found = _answers(text)
    if not found:
        return InvalidVerdict(reason="no_answers")
    scores: dict[str, float] = {}
    reasons: dict[str, str] = {}
    for answer in found:
        number = _number(answer.get(_ID))
        # `is_integer`, because JSON of models holds NaN and Infinity, which `int` cannot convert.
        if number is None or not number.is_integer() or not 0 <= number < len(checklist.criteria):
            return InvalidVerdict(reason="unknown_item")
        if (name := str(int(number))) in scores:
            return InvalidVerdict(reason="repeated_item")
        score = read_score(answer.get(_SCORE), checklist.criteria[int(number)].levels)
        if score is None:
            return InvalidVerdict(reason="bad_score")
        scores[name] = score
        if is_text(reason := answer.get(_REASON)) and reason.strip():
            reasons[name] = reason.strip()
    if len(scores) < len(checklist.criteria):
        return InvalidVerdict(reason="missing_item")
    ordered = [str(number) for number in range(len(checklist.criteria))]
    return ChecklistVerdict(
        scores={name: scores[name] for name in ordered},
        reasons={name: reasons[name] for name in ordered if name in reasons},
    )


def read_overall(text: str) -> Verdict:
    """The `evaluation_score` of the last object of a reply, from 0 to 10; invalid as `no_answers` or `bad_score`."""
    found = [answer for answer in readable_values(text) if _SCORE in answer]
    if not found:
        return InvalidVerdict(reason="no_answers")
    score = number_within(found[-1][_SCORE], 0, OVERALL_BEST)
    return InvalidVerdict(reason="bad_score") if score is None else ScoresVerdict(scores=(score,))


def read_one_score(text: str, levels: Sequence[float]) -> Verdict:
    """The level in the last object of a reply to one question. It is invalid as `no_answers` or `bad_score`."""
    found = readable_values(text)
    if not found:
        return InvalidVerdict(reason="no_answers")
    score = read_score(found[-1].get(_SCORE), levels)
    return InvalidVerdict(reason="bad_score") if score is None else ScoresVerdict(scores=(score,))


def read_score(value: Any, levels: Sequence[float]) -> float | None:
    """The level that a number, or a number as text, stands for; None if it is none of `levels`."""
    number = _number(value)
    return None if number is None else next((level for level in levels if abs(level - number) < 1e-3), None)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _answers(text: str) -> list[dict[str, Any]]:
    """The objects of a reply that have an id; those of an object around them, too."""
    found: list[Any] = list(readable_values(text))
    if len(found) == 1 and _ID not in found[0]:
        found = next((value for value in found[0].values() if isinstance(value, list)), [])
    return [answer for answer in found if isinstance(answer, dict) and _ID in answer]


async def write_answers(writer: ModelWriter, checklist: Checklist) -> str:
    """The JSON list that the one-call prompt asks for: per question its number, a reason, and one of its levels."""
    answers = []
    for number, criterion in enumerate(checklist.criteria):
        writer.add(f'{", " if number else "["}{{"checklist_id": {number}, "reason": "')
        reason = await _reason(writer)
        score = await _score(writer, criterion.levels)
        answers.append({"checklist_id": number, "reason": reason, "evaluation_score": score})
    return _dumped(answers)


async def write_answer(writer: ModelWriter, levels: Sequence[float], passages: int) -> str:
    """The JSON object that the prompt of one question asks for: a reason, the number of a passage, and a level."""
    answer: dict[str, object] = {}
    writer.add('{"reason": "')
    answer["reason"] = await _reason(writer)
    if passages:
        writer.add('"passage": ')
        answer["passage"] = int(await writer.choose([str(number) for number in range(1, passages + 1)], end=", "))
    answer["evaluation_score"] = await _score(writer, levels)
    return _dumped(answer)


async def write_queries(writer: ModelWriter, count: int) -> str:
    """At most `count` lines; an empty one is the last."""
    lines: list[str] = []
    while len(lines) < count and (line := (await writer.write(QUERY_TOKENS))[0].strip()):
        lines.append(line)
        writer.add(line + "\n")
    return "\n".join(lines)


def _dumped(value: object) -> str:
    """JSON without `<`, so that no tag of a thought in a reason hides the answer."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


async def _reason(writer: ModelWriter) -> str:
    """Free text up to a quotation mark, in one line. It continues the answer as the inside of a JSON string."""
    text, _ = await writer.write(REASON_TOKENS, end='"')
    reason = " ".join(text.split()).rstrip("\\")
    writer.add(json.dumps(reason, ensure_ascii=False)[1:] + ", ")
    return reason


async def _score(writer: ModelWriter, levels: Sequence[float]) -> float:
    writer.add('"evaluation_score": ')
    return float(await writer.choose([f"{level:g}" for level in levels], end="}"))
