"""Requests and responses of the server that the Python client does not use."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from judge_r1.core.principles import by_number
from judge_r1.core.records import Turn
from judge_r1.core.verdicts import Evidence
from judge_r1.core.wire import (
    JUDGE_EXAMPLE,
    CaseResponse,
    ErrorResponse,
    JudgeRequestBody,
    JudgeResponse,
    Passage,
    Principle,
    RequestModel,
    ResponseModel,
    Text,
    ToolCallResponse,
    TurnResponse,
)
from judge_r1.judges.result import JudgeResult

CHAT_EXAMPLES: list[Any] = [
    {"model": "judge-r1", "messages": [{"role": "user", "content": "judge"}], "judge": JUDGE_EXAMPLE},
    {
        "model": "judge-r1",
        "messages": [{"role": "user", "content": '{"question": "Two and two?", "A": "Four.", "B": "Five."}'}],
    },
]


class BatchError(ErrorResponse):
    """The error of one entry of a batch, with the status that it would have as a request."""

    status: int


def field_message(where: Sequence[str | int], message: str) -> str:
    """The problem of a field as one sentence."""
    return f"{'.'.join(map(str, where)) or 'the body'}: {message.removeprefix('Value error, ')}"


def _entry(value: Any, check: ValidatorFunctionWrapHandler) -> JudgeRequestBody | BatchError:
    """The error of an entry that is not valid. It does not fail the others."""
    try:
        entry: JudgeRequestBody = check(value)
    except ValidationError as error:
        first = error.errors()[0]
        return BatchError(error=field_message(first["loc"], first["msg"]), status=422)
    return entry


class BatchRequest(RequestModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"requests": [JUDGE_EXAMPLE]}]})
    requests: list[Annotated[JudgeRequestBody, WrapValidator(_entry)]] = Field(min_length=1)

    @property
    def entries(self) -> Sequence[JudgeRequestBody | BatchError]:
        """The requests, and the errors of those that are not valid."""
        return self.requests


class OpenAIError(ResponseModel):
    message: str
    type: str
    param: None
    code: int
    tokens: int | None = None
    limit: int | None = None


class OpenAIErrorResponse(ResponseModel):
    """An error in OpenAI's format."""

    error: OpenAIError


class BatchResponse(ResponseModel):
    """One entry per request, in order."""

    results: list[JudgeResponse | BatchError]


class QueueResponse(ResponseModel):
    """The requests of the server now. `seconds` is about how long one takes that arrives now, by the mean of the recent
    ones; null before the first. `timeout` is how long it takes at most."""

    running: int
    waiting: int
    seconds: float | None
    timeout: float


class CaseList(ResponseModel):
    cases: list[CaseResponse]


class CaseText(ResponseModel):
    case_id: str
    context: str


class ChatMessage(BaseModel):
    """`content` is a text, or a list of parts of type text."""

    model_config = ConfigDict(extra="allow")
    role: Text
    content: Any = None


class ChatRequest(BaseModel):
    """A request of OpenAI's chat API. The server sets the sampling: `temperature` and similar fields are ignored."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": CHAT_EXAMPLES})

    model: Text
    messages: list[ChatMessage] = Field(min_length=1)
    judge: dict[str, Any] | None = Field(None, description="a pair, as for /v1/judge")
    stream: bool = False
    stream_options: dict[str, Any] | None = None


def judge_response(trace_id: str, judge: str, result: JudgeResult, seconds: float, *, trace: bool) -> JudgeResponse:
    return JudgeResponse(
        id=trace_id,
        judge=judge,
        valid=result.valid,
        winner=result.winner,
        comparison=result.comparison,
        verdict=result.verdict,
        violated_principles=[Principle(number=n, name=by_number(n).name) for n in result.violated_principles],
        explanation=result.explanation,
        confidence=result.confidence,
        evidence=[passage_response(p) for p in result.evidence],
        searches=result.trajectory.searches,
        ended=result.ended,
        seconds=round(seconds, 4),
        turns=[turn_response(turn) for turn in result.trajectory.turns] if trace else None,
        memory=list(result.memory) or None,
    )


def passage_response(evidence: Evidence) -> Passage:
    return Passage(start=evidence.start, end=evidence.end, text=evidence.text, score=evidence.score)


def turn_response(turn: Turn) -> TurnResponse:
    return TurnResponse(
        text=turn.text, query=turn.query, passages=[passage_response(p) for p in turn.passages], notice=turn.notice,
        call=ToolCallResponse(**turn.call.model_dump()) if turn.call else None,
    )  # fmt: skip
