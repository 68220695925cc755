"""The prompts that a judge answers as a chat model, whatever protocol brings them.

A judge that answers prompts gets a prompt about one answer as it is. A judge of pairs checks a response by comparing it
with the reference in both orders: it accepts a response that is the better one with a mean probability of at least 1/2,
so ties and contradictory verdicts accept it.
"""

import uuid
from collections.abc import Callable
from statistics import fmean
from typing import NamedTuple

from fastapi import HTTPException
from fastapi.concurrency import run_in_threadpool

from judge_r1.core.items import Item
from judge_r1.core.wire import JudgeRequestBody
from judge_r1.episode.prompts import user_prompt
from judge_r1.judges.base import BadJudge, JudgeOutput, NothingFits
from judge_r1.judges.request import CustomPrompt, JudgeRequest, any_text
from judge_r1.judges.result import result_of
from judge_r1.rewards.collector import JudgmentFailed
from judge_r1.rewards.group import first_win_probability
from judge_r1.serving.pairwise_prompt_formats import (
    EXAMPLES,
    AnswerFormat,
    UnsupportedPrompt,
    format_answer,
    parse_prompt,
)
from judge_r1.serving.reply_schema import ReplySchema
from judge_r1.serving.service import Service
from judge_r1.serving.single_prompt_formats import EXAMPLES as SINGLE_EXAMPLES
from judge_r1.serving.single_prompt_formats import ReferenceCheck, SinglePrompt, parse_single

FORMS = f"{EXAMPLES}; {SINGLE_EXAMPLES}"
"""What a request may hold, with an example of each form."""
_EXPLANATION = "The responses were compared."
"""What a judge without an explanation says for texts that a schema asks for."""


class ChatQuestion(NamedTuple):
    """A prompt about one answer, or a pair to judge and the format of the answer (None: the whole judgment as JSON).
    `schema` describes the object that the answer to a pair is put in."""

    task: JudgeRequestBody | SinglePrompt
    form: AnswerFormat | None = None
    schema: ReplySchema | None = None


def read_question(user: str, system: str = "", schema: ReplySchema | None = None) -> ChatQuestion:
    """Raises: UnsupportedPrompt, ValidationError."""
    if (single := parse_single(user, system, schema)) is not None:
        return ChatQuestion(single)
    prompt = parse_prompt(user, system)
    pair = JudgeRequestBody(
        context=prompt.context or None, decision=prompt.question, reasoning_a=prompt.a, reasoning_b=prompt.b
    )
    if schema is None:
        return ChatQuestion(pair, prompt.form)
    if not schema.schema:
        return ChatQuestion(pair, "json")
    form: AnswerFormat = "yes_no" if prompt.form == "yes_no" else "letter"
    labels = ("Yes", "No") if form == "yes_no" else ("A", "B")
    if not all(schema.filled(label, _EXPLANATION) for label in labels):
        raise UnsupportedPrompt(
            f"a verdict on a pair is {labels[0]} or {labels[1]}, and the schema of the reply lists "
            "them in no property, or asks for more than texts besides"
        )
    return ChatQuestion(pair, form, schema)


def no_form(error: UnsupportedPrompt) -> str:
    """The message for a prompt that has none of the forms."""
    return f"the prompt has no form that this judge answers ({error}): {FORMS}"


async def answer_question(
    service: Service, question: ChatQuestion, tenant: str = "", charge: Callable[[int], None] = lambda count: None
) -> tuple[str, list[JudgeOutput]]:
    """The answer in the form that the prompt asks for, and the outputs of the judge. `charge` gets the number of
    judgments of a prompt about one answer.

    Raises:
        HTTPException: 400 for a prompt without a reference, if the judge compares pairs.
        NothingFits: The prompt is too long.
        JudgmentFailed: The judge gave no valid answer. A text in its place could read as a verdict.
        errors.NO_JUDGMENT
    """
    if isinstance(question.task, SinglePrompt):
        return await _answer_single(service, question.task, tenant, charge)
    response, output = await service.judge_one(question.task, tenant)
    if question.form is None:
        return response.model_dump_json(), [output]
    result = result_of(output)
    answer = format_answer(question.form, result)
    if question.schema is None:
        return answer, [output]
    if result.winner is None or (filled := question.schema.filled(answer, result.explanation or _EXPLANATION)) is None:
        raise JudgmentFailed(f"the judge gave no valid answer ({result.winner or result.ended})")
    return filled, [output]


async def _answer_single(
    service: Service, prompt: SinglePrompt, tenant: str, charge: Callable[[int], None]
) -> tuple[str, list[JudgeOutput]]:
    task = CustomPrompt(user_prompt(prompt.text), any_text)
    item_id = uuid.uuid4().hex
    item = Item(item_id=item_id, cluster_id=item_id, instruction=prompt.text, candidates=("",), gold=None)
    request = JudgeRequest(item, (0,), 0, task)
    try:
        await run_in_threadpool(service.judge.check, [request])
    except NothingFits:
        raise
    except BadJudge:
        if prompt.check is None:
            message = (
                f"{service.judge.name} compares pairs, and this prompt holds no pair and no check against a reference: "
                "serve a direct@MODEL judge, which answers it as it is"
            )
            raise HTTPException(400, message) from None
        if not prompt.check.response:
            return prompt.check.negative, []
        charge(2)
        return await _compared(service, prompt.check, tenant)
    charge(1)

    async def make_request() -> JudgeRequest:
        return request

    output = await service.run(make_request, tenant)
    result = result_of(output)
    answer = prompt.read(output.trajectory.turns[-1].text) if result.valid else None
    if answer is None:
        raise JudgmentFailed(f"the judge gave no valid answer ({'unreadable' if result.valid else result.ended})")
    return answer, [output]


async def _compared(service: Service, check: ReferenceCheck, tenant: str) -> tuple[str, list[JudgeOutput]]:
    outputs, accepted = [], []
    for first, second in ((check.response, check.reference), (check.reference, check.response)):
        pair = JudgeRequestBody(reasoning_a=first, reasoning_b=second, decision=check.question)
        _, output = await service.judge_one(pair, tenant)
        probability = first_win_probability(output)
        if probability is None:
            raise JudgmentFailed(f"the judge gave no valid answer ({result_of(output).ended})")
        outputs.append(output)
        accepted.append(probability if len(outputs) == 1 else 1.0 - probability)
    return check.positive if fmean(accepted) >= 0.5 else check.negative, outputs
