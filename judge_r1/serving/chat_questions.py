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
from judge_r1.serving.service import Service
from judge_r1.serving.single_prompt_formats import EXAMPLES as SINGLE_EXAMPLES
from judge_r1.serving.single_prompt_formats import ReferenceCheck, SinglePrompt, parse_single

FORMS = f"{EXAMPLES}; {SINGLE_EXAMPLES}"
"""What a request may hold, with an example of each form."""


class ChatQuestion(NamedTuple):
    """A prompt about one answer, or a pair to judge and the format of the answer (None: the whole judgment as JSON)."""

    task: JudgeRequestBody | SinglePrompt
    form: AnswerFormat | None = None


def read_question(user: str, system: str = "") -> ChatQuestion:
    """Raises: UnsupportedPrompt, ValidationError."""
    if (single := parse_single(user, system)) is not None:
        return ChatQuestion(single)
    prompt = parse_prompt(user, system)
    pair = JudgeRequestBody(
        context=prompt.context or None, decision=prompt.question, reasoning_a=prompt.a, reasoning_b=prompt.b
    )
    return ChatQuestion(pair, prompt.form)


def no_form(error: UnsupportedPrompt) -> str:
    """The message for a prompt that has none of the forms."""
    return f"the prompt has no form that this judge answers ({error}): {FORMS}"


async def answer_question(
    service: Service, question: ChatQuestion, tenant: str = "", charge: Callable[[int], None] = lambda count: None
) -> tuple[str, list[JudgeOutput]]:
    """The answer in the form that the prompt asks for, and the outputs of the judge. `charge` gets the number of
    judgments of a prompt about one answer.

    Raises:
        HTTPException: 400 for a rating or rubric, if the judge compares pairs.
        NothingFits: The prompt is too long.
        JudgmentFailed: The judge gave no valid answer. A text in its place could read as a verdict.
        errors.NO_JUDGMENT
    """
    if isinstance(question.task, SinglePrompt):
        return await _answer_single(service, question.task, tenant, charge)
    response, output = await service.judge_one(question.task, tenant)
    if question.form is None:
        return response.model_dump_json(), [output]
    return format_answer(question.form, result_of(output)), [output]


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
            message = f"{service.judge.name} compares pairs: serve a direct@MODEL judge to answer ratings and rubrics"
            raise HTTPException(400, message) from None
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
