"""What the API takes and gives, with examples."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from judge_r1.core.principles import by_number
from judge_r1.core.records import Evidence, Turn
from judge_r1.core.wire import (
    EXAMPLE,
    Answer,
    Body,
    CaseResponse,
    JudgeRequestBody,
    JudgeResponse,
    Passage,
    Principle,
    Refusal,
    Text,
    TurnSeen,
)
from judge_r1.judges.result import JudgeResult

CHAT_EXAMPLES: list[Any] = [
    {"model": "judge-r1", "messages": [{"role": "user", "content": "judge"}], "judge": EXAMPLE},
    {
        "model": "judge-r1",
        "messages": [{"role": "user", "content": '{"question": "Two and two?", "A": "Four.", "B": "Five."}'}],
    },
]


class BatchRequest(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [{"requests": [EXAMPLE]}]})
    requests: list[JudgeRequestBody] = Field(min_length=1)


class Unjudged(Refusal):
    """The same of one entry of a batch, with the status that it would have had alone."""

    status: int


class OpenAIError(Answer):
    message: str
    type: str
    param: None
    code: int
    tokens: int | None = None
    limit: int | None = None


class OpenAIProblem(Answer):
    """The same, as OpenAI's clients read it."""

    error: OpenAIError


class BatchResponse(Answer):
    """One entry a request, in order."""

    results: list[JudgeResponse | Unjudged]


class CaseList(Answer):
    cases: list[CaseResponse]


class CaseText(Answer):
    case_id: str
    context: str


class ChatMessage(BaseModel):
    """`content` is a text, or a list of parts of type text."""

    model_config = ConfigDict(extra="allow")
    role: Text
    content: Any = None


class ChatRequest(BaseModel):
    """A call of OpenAI's chat API. How the judge draws its tokens is the server's: `temperature` and the like are
    ignored."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": CHAT_EXAMPLES})

    model: Text
    messages: list[ChatMessage] = Field(min_length=1)
    judge: dict[str, Any] | None = Field(None, description="a pair, as for /v1/judge")
    stream: bool = False
    stream_options: dict[str, Any] | None = None


def response(trace_id: str, judge: str, found: JudgeResult, seconds: float, *, trace: bool) -> JudgeResponse:
    return JudgeResponse(
        id=trace_id,
        judge=judge,
        valid=found.valid,
        winner=found.winner,
        comparison=found.comparison,
        violated_principles=[Principle(number=n, name=by_number(n).name) for n in found.violated_principles],
        explanation=found.explanation,
        confidence=found.confidence,
        evidence=[passage(p) for p in found.evidence],
        searches=found.trajectory.searches,
        ended=found.ended,
        seconds=round(seconds, 4),
        turns=[turn_seen(turn) for turn in found.trajectory.turns] if trace else None,
    )


def passage(found: Evidence) -> Passage:
    return Passage(start=found.start, end=found.end, text=found.text, score=found.score)


def turn_seen(turn: Turn) -> TurnSeen:
    return TurnSeen(text=turn.text, query=turn.query, passages=[passage(p) for p in turn.passages], notice=turn.notice)
