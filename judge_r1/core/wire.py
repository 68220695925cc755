"""Requests and responses of the HTTP API that server and client share."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from judge_r1.core.principles import GENERAL

EXAMPLE: dict[str, Any] = {
    "context": "Ana paid 34 crowns on Monday. Ben paid nothing. The court heard both on Friday.",
    "decision": "Ben owes 34 crowns.",
    "reasoning_a": "1. Ana paid 34 crowns and Ben nothing. 2. So Ben owes 34 crowns.",
    "reasoning_b": "1. Ana paid 43 crowns on Friday. 2. So Ben owes 34 crowns.",
    "domain": "legal",
}


SCORE_EXAMPLE: dict[str, Any] = {
    "prompt": "What is two and two?",
    "candidates": ["It is four.", "It is five, I think."],
    "reference": "Four.",
}


def _whole(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("holds half a character (a lone surrogate): send it as valid UTF-8")
    return text


def _says_something(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Text = Annotated[str, AfterValidator(_whole)]


Said = Annotated[Text, AfterValidator(_says_something), Field(json_schema_extra={"minLength": 1})]


class Body(BaseModel):
    """What is sent: a field that nobody knows is a mistake."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """What comes back: a client lets fields be that a newer server has."""


class CaseNamed(Body):
    """What is judged may be about a case: its text, or the id that `/v1/cases` gave it, or neither."""

    context: Text | None = Field(None, description="the case, which the judge may search")
    case_id: Text | None = Field(None, description="a case that was put before")
    domain: str = Field(
        GENERAL,
        pattern=r"^[a-z][a-z0-9_ -]*$",
        max_length=60,
        description="legal, medical or academic; general is for answers to a request; another name, in lower case, is"
        " only told to the judge",
    )

    @model_validator(mode="after")
    def _one_case(self) -> "CaseNamed":
        if self.context is not None and self.case_id is not None:
            raise ValueError("context and case_id exclude each other: name one of them, or none")
        return self


class JudgeRequestBody(CaseNamed):
    """Two candidates, and the case they are about."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    decision: Text = Field("", description="what was decided in the case, or the request that the candidates answer")
    reasoning_a: Said
    reasoning_b: Said
    trace: bool = Field(False, description="return the whole episode, turn by turn")


class Principle(Answer):
    number: int
    name: str


class Passage(Answer):
    """`text` is `context[start:end]` of the case."""

    start: int
    end: int
    text: str
    score: float


class TurnSeen(Answer):
    """What the judge wrote, and what it was shown after that."""

    text: str
    query: str | None
    passages: list[Passage]
    notice: str | None


class JudgeResponse(Answer):
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


class Problem(Answer):
    """Why a request has no judgment: one sentence."""

    error: str


class Refusal(Problem):
    """The same of a whole answer. Of a prompt that is too long also its tokens, and how many it may have."""

    tokens: int | None = None
    limit: int | None = None


class CaseRequest(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [{"context": EXAMPLE["context"]}]})
    context: Said


class CaseResponse(Answer):
    """`bytes` of UTF-8."""

    case_id: str
    bytes: int


class ScoreRequest(CaseNamed):
    """A prompt and its candidates. Each is played against `reference`, or without one against each other candidate, in
    both orders."""

    model_config = ConfigDict(json_schema_extra={"examples": [SCORE_EXAMPLE]})

    prompt: Text = Field(description="what the candidates answer")
    candidates: list[Said] = Field(min_length=1)
    reference: Said | None = Field(None, description="what each candidate is compared with")

    @model_validator(mode="after")
    def _can_be_played(self) -> "ScoreRequest":
        if self.reference is None and len(self.candidates) < 2:
            raise ValueError("one candidate has nothing to be compared with: give a reference, or more candidates")
        return self


class ScoreResponse(Answer):
    """One score in [0, 1] a candidate, in order; null where not one of its games has a valid answer. `games` were
    played, of which `invalid` had none."""

    id: str
    judge: str
    scores: list[float | None]
    games: int
    invalid: int
    seconds: float
