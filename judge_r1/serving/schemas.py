"""What the API takes and gives, with examples; unknown fields are refused."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from judge_r1.loaded import Judged
from judge_r1.principles import by_number
from judge_r1.prompts import GENERAL
from judge_r1.records import Evidence, Turn

EXAMPLE: dict[str, Any] = {
    "context": "Ana paid 34 crowns on Monday. Ben paid nothing. The court heard both on Friday.",
    "decision": "Ben owes 34 crowns.",
    "reasoning_a": "1. Ana paid 34 crowns and Ben nothing. 2. So Ben owes 34 crowns.",
    "reasoning_b": "1. Ana paid 43 crowns on Friday. 2. So Ben owes 34 crowns.",
    "domain": "legal",
}


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class JudgeRequest(Body):
    """Two candidates, and the case they are about: its text, or the id that `/v1/cases` gave it, or neither."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [EXAMPLE]})

    context: str | None = Field(None, description="the case, which the judge may search")
    case_id: str | None = Field(None, description="a case that was put before")
    decision: str = Field("", description="what was decided in the case, or the request that the candidates answer")
    reasoning_a: str = Field(min_length=1)
    reasoning_b: str = Field(min_length=1)
    domain: str = Field(GENERAL, pattern=r"^[a-z][a-z0-9_ -]*$", max_length=60)
    trace: bool = Field(False, description="return the whole episode, turn by turn")

    @model_validator(mode="after")
    def _one_case(self) -> "JudgeRequest":
        if self.context is not None and self.case_id is not None:
            raise ValueError("context and case_id exclude each other: name one of them, or none")
        return self


class BatchRequest(Body):
    requests: list[JudgeRequest] = Field(min_length=1, max_length=256)


class Principle(Body):
    number: int
    name: str


class Passage(Body):
    """`text` is `context[start:end]` of the case."""

    start: int
    end: int
    text: str
    score: float


class TurnSeen(Body):
    """What the judge wrote, and what it was shown after that."""

    text: str
    query: str | None
    passages: list[Passage]
    notice: str | None


class JudgeResponse(Body):
    """`winner` and `comparison` are null where the judge gave no valid answer, for the reason that `ended` names."""

    id: str
    judge: str
    valid: bool
    winner: Literal["A", "B", "tie"] | None
    comparison: Literal["A>B", "A<B"] | None
    violated_principles: list[Principle]
    explanation: str | None
    confidence: float | None
    evidence: list[Passage]
    searches: int
    ended: str
    seconds: float
    turns: list[TurnSeen] | None = None


class Problem(Body):
    """Why a request has no judgment: one sentence."""

    error: str


class BatchResponse(Body):
    """One entry a request, in order."""

    results: list[JudgeResponse | Problem]


class CaseRequest(Body):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"context": EXAMPLE["context"]}]})
    context: str = Field(min_length=1)


class CaseResponse(Body):
    case_id: str


def response(trace_id: str, judge: str, found: Judged, seconds: float, *, trace: bool) -> JudgeResponse:
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
