"""The prompts that a judge answers as a chat model, whatever protocol brings them."""

from collections.abc import Callable
from typing import NamedTuple

from judge_r1.core.wire import JudgeRequestBody
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.result import result_of
from judge_r1.serving.pairwise_prompt_formats import (
    EXAMPLES,
    AnswerFormat,
    UnsupportedPrompt,
    format_answer,
    parse_prompt,
)
from judge_r1.serving.service import Service
from judge_r1.serving.single_answers import answer_single
from judge_r1.serving.single_prompt_formats import EXAMPLES as SINGLE_EXAMPLES
from judge_r1.serving.single_prompt_formats import SinglePrompt, parse_single

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
    """The answer, and the outputs of the judge. Raises: what `answer_single` and `Service.judge_one` raise."""
    if isinstance(question.task, SinglePrompt):
        return await answer_single(service, question.task, tenant, charge)
    response, output = await service.judge_one(question.task, tenant)
    if question.form is None:
        return response.model_dump_json(), [output]
    return format_answer(question.form, result_of(output)), [output]
