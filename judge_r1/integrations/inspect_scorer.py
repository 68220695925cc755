"""Scorers for Inspect: a judge compares a model's completion with the target, in both orders.

A sample without a valid judgment is unscored (NaN): Inspect leaves it out of the metrics and counts it in
`unscored_samples`. An error that every request would meet ends the evaluation.
"""

import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from inspect_ai.model import ChatMessage
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from judge_r1.client import AsyncClient, BadRequest
from judge_r1.core.endpoint import RequestRejected, RetriesExhausted
from judge_r1.core.event_loop import gather_all
from judge_r1.core.principles import GENERAL
from judge_r1.core.text_check import are, counted
from judge_r1.integrations.reference_judge import ReferenceJudge, best, text_of_value


class Compared(NamedTuple):
    """The scores of a completion against each target, and what they rest on."""

    scores: Sequence[float | None]
    missing: str
    metadata: dict[str, Any]


@scorer(metrics=[mean(), stderr()])
def judged(url: str = "http://127.0.0.1:8000", key: str | None = None) -> Scorer:
    """1 if the completion beats the target in both orders, 0 if it loses in both.

    Of several targets each is acceptable by itself: the completion is compared with each, and the best value counts.
    Without a text, a completion loses.

    Args:
        url: The address of `judge-r1 serve`.
        key: The API key; by default that of the environment variable JUDGE_R1_KEY.
    """

    async def compare(state: TaskState, target: Target) -> Compared:
        prompt, answer = conversation_text(state.messages), state.output.completion
        async with AsyncClient(url, key=key) as judge:
            found = [await judge.score(prompt, [answer], reference=reference) for reference in target]
        invalid = sum(response.invalid for response in found)
        missing = f"{counted(invalid, 'judgment')} {are(invalid)} not valid"
        about = {"judgments": [response.id for response in found], "judge": found[0].judge}
        return Compared([response.scores[0] for response in found], missing, about)

    return _scorer(compare)


@scorer(metrics=[mean(), stderr()])
def pairwise(judge: str = "http://127.0.0.1:8000", context: str | None = None) -> Scorer:
    """The mean probability over both orders that the completion is better than the target; of several, the best one.

    Args:
        judge: A SPEC, such as `direct@https://host/v1#model`, or the URL of `judge-r1 serve`.
        context: The name of the sample's metadata that holds the case. The judge may search it.
    """
    compared = ReferenceJudge(judge)

    async def compare(state: TaskState, target: Target) -> Compared:
        case, domain = text_of_value(state.metadata.get(context or "")), str(state.metadata.get("domain", GENERAL))
        prompt, answer = conversation_text(state.messages), state.output.completion
        found = await gather_all([compared.score(prompt, answer, reference, case, domain) for reference in target])
        missing = "; ".join(one.reason for one in found if one.value is None)
        return Compared([one.value for one in found], missing, {"judge": judge})

    return _scorer(compare)


def _scorer(compare: Callable[[TaskState, Target], Awaitable[Compared]]) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        if not answer.strip():
            return Score(value=0.0, answer=answer, explanation="the completion has no text")
        if not target:
            return Score.unscored(reason="the sample has no target", answer=answer)
        try:
            found = await compare(state, target)
        except (BadRequest, RequestRejected, RetriesExhausted) as error:
            return Score.unscored(reason=str(error), answer=answer)
        value = best(found.scores)
        # Not an exception: Inspect would end the log with an error and keep no results.
        if math.isnan(value):
            return Score.unscored(reason=found.missing, answer=answer, metadata=found.metadata)
        return Score(value=value, answer=answer, metadata=found.metadata)

    return score


def conversation_text(messages: Sequence[ChatMessage]) -> str:
    """What the last assistant message answers: the text of a single user message, or a paragraph for each message with
    its role. A part that is not text stands as its kind in brackets."""
    last = max((index for index, message in enumerate(messages) if message.role == "assistant"), default=len(messages))
    asked = [(message.role, _text(message)) for message in messages[:last]]
    if [role for role, _ in asked] == ["user"]:
        return asked[0][1]
    return "\n\n".join(f"{role.upper()}:\n{text}" for role, text in asked if text)


def _text(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    parts = [part.text if part.type == "text" else f"[{part.type}]" for part in message.content]
    return "\n".join(parts)
