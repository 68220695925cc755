"""Requests and responses of the HTTP API that server and client share."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from judge_r1.core.memory import DocumentMemory
from judge_r1.core.principles import GENERAL
from judge_r1.core.record_base import not_blank
from judge_r1.core.records import DOMAIN
from judge_r1.core.registry import suggest
from judge_r1.core.verdicts import Verdict

JUDGE_EXAMPLE: dict[str, Any] = {
    "context": "Ana paid 34 crowns on Monday. Ben paid nothing. The court heard both on Friday.",
    "decision": "Ben owes 34 crowns.",
    "reasoning_a": "1. Ana paid 34 crowns and Ben nothing. 2. So Ben owes 34 crowns.",
    "reasoning_b": "1. Ana paid 43 crowns on Friday. 2. So Ben owes 34 crowns.",
    "domain": "legal",
}
TRACE_EXAMPLE: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "Make the tests pass."},
        {"role": "assistant", "content": "All tests pass."},
    ],
    "question": "Did the agent run the tests?",
}
SCORE_EXAMPLE: dict[str, Any] = {
    "prompt": "What is two and two?",
    "candidates": ["It is four.", "It is five, I think."],
    "reference": "Four.",
}
GROUP_EXAMPLE: dict[str, Any] = {
    "group": "step 7, prompt 3",
    "size": 8,
    "prompt": "What is two and two?",
    "candidate": "It is four.",
}


def _valid_unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("contains a lone surrogate: send it as valid UTF-8") from None
    return text


Text = Annotated[str, AfterValidator(_valid_unicode)]
NonBlankText = Annotated[Text, AfterValidator(not_blank), Field(json_schema_extra={"minLength": 1})]


class RequestModel(BaseModel):
    """Base of request bodies: unknown fields fail, and the error suggests the nearest known one."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        known = cls.model_fields
        if isinstance(data, dict) and (unknown := next((str(name) for name in data if name not in known), None)):
            raise ValueError(f"unknown field {unknown[:80]!r}{suggest(unknown[:80], known)}")
        return data


class ResponseModel(BaseModel):
    """Base of responses: a client ignores fields that only a newer server sends."""


class CaseReference(RequestModel):
    """The case of a request: its text, the id that `PUT /v1/cases` returned, or neither."""

    context: Text | None = Field(None, description="the case; the judge may search it")
    case_id: Text | None = Field(None, description="the id of an uploaded case")
    domain: str = Field(
        GENERAL,
        pattern=DOMAIN,
        max_length=60,
        description="legal, medical or academic; general for answers to a request; any other lower-case name only"
        " appears in the prompt",
    )

    @model_validator(mode="after")
    def _at_most_one_case(self) -> "CaseReference":
        if self.context is not None and self.case_id is not None:
            raise ValueError("context and case_id exclude each other: send one of them, or none")
        return self


class JudgeRequestBody(CaseReference):
    """Two candidates and their case; or the messages of an agent's trace and a question that yes or no answers."""

    model_config = ConfigDict(json_schema_extra={"examples": [JUDGE_EXAMPLE, TRACE_EXAMPLE]})

    decision: Text = Field("", description="the decision made in the case, or the request that the candidates answer")
    reasoning_a: NonBlankText | None = None
    reasoning_b: NonBlankText | None = None
    messages: list[dict[str, Any]] | None = Field(
        None, min_length=1, description="a trace: chat messages, or the records of another format of docs/traces.md"
    )
    question: NonBlankText | None = Field(None, description="the question about the trace")
    allow_unread: bool = Field(False, description="judge a trace with texts that no event has, and count them")
    trace: bool = Field(False, description="return the whole episode, turn by turn")

    @model_validator(mode="after")
    def _pair_or_trace(self) -> "JudgeRequestBody":
        pair = {"reasoning_a": self.reasoning_a, "reasoning_b": self.reasoning_b}
        if self.messages is None and self.question is None:
            if self.allow_unread:
                raise ValueError("allow_unread belongs to a trace: leave it out where there are no messages")
            if missing := [name for name, text in pair.items() if text is None]:
                raise ValueError(f"{missing[0]}: Field required, or messages and question for a trace")
            return self
        if self.messages is None or self.question is None:
            raise ValueError("a trace needs both messages and question")
        others = {**pair, "context": self.context, "case_id": self.case_id, "decision": self.decision or None}
        if given := [name for name, value in others.items() if value is not None]:
            raise ValueError(f"{given[0]} belongs to a pair: leave it out where there are messages")
        return self


class Principle(ResponseModel):
    number: int
    name: str


class Passage(ResponseModel):
    """`text` is `context[start:end]` of the case."""

    start: int
    end: int
    text: str
    score: float


class ToolCallResponse(ResponseModel):
    """A call of a tool, and the text that came back. A `refused` call did not run: the notice says why."""

    name: str
    input: str
    status: Literal["ok", "error", "limit", "refused"]
    output: str


class TurnResponse(ResponseModel):
    """The text that the judge wrote in one turn, and the passages, the result of a tool and the notice that it was
    shown after it."""

    text: str
    query: str | None
    passages: list[Passage]
    notice: str | None
    call: ToolCallResponse | None = None


class TraceEvent(ResponseModel):
    """An event of a trace that a judgment rests on. `cited`: the judge names it; other events were shown to it."""

    event: str
    kind: str
    name: str
    time: str | None
    error: bool
    cited: bool
    text: str


class TraceFile(ResponseModel):
    """A trace as the context of a pair. `about` describes it for a judge; `masked` counts masked secrets, and `unread`
    the texts of the file that no event has."""

    context: str
    events: int
    about: str
    masked: int
    unread: int


class JudgeResponse(ResponseModel):
    """The judgment of one request.

    `verdict` is the whole verdict: a comparison, scores, a ranking, a checklist, or invalid. `winner` and `comparison`
    are null if it does not compare two candidates. For an invalid verdict, `ended` is the reason. `memory` holds the
    notes of a judge that reads in sections, one memory per candidate; null for other judges and invalid verdicts. For a
    trace, `answer` is yes, no, undecided or null, `events` are those that it rests on, and `unread` counts the texts
    that no event has.
    """

    id: str
    judge: str
    valid: bool
    winner: Literal["A", "B", "tie"] | None
    comparison: Literal["A>B", "A<B"] | None
    verdict: Verdict | None = None
    violated_principles: list[Principle]
    explanation: str | None
    confidence: float | None
    evidence: list[Passage]
    searches: int
    ended: str
    seconds: float
    turns: list[TurnResponse] | None = None
    memory: list[DocumentMemory] | None = None
    answer: str | None = None
    events: list[TraceEvent] | None = None
    unread: int | None = None


class ErrorMessage(ResponseModel):
    """The reason why a request failed, in one sentence."""

    error: str


class ErrorResponse(ErrorMessage):
    """The body of an error response. For a prompt that is too long: its number of tokens and the limit."""

    tokens: int | None = None
    limit: int | None = None


class CaseRequest(RequestModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"context": JUDGE_EXAMPLE["context"]}]})
    context: NonBlankText


class CaseResponse(ResponseModel):
    """An uploaded case; `bytes` is its size in UTF-8."""

    case_id: str
    bytes: int


class ScoreRequest(CaseReference):
    """A prompt and its candidates.

    The judge compares each candidate with `reference`, or without one with every other candidate, in both orders. A
    judge that scores candidates alone does so without a reference, also for one candidate.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [SCORE_EXAMPLE]})

    prompt: Text = Field(description="the prompt that the candidates answer")
    candidates: list[NonBlankText] = Field(min_length=1)
    reference: NonBlankText | None = Field(None, description="a reference answer to compare each candidate with")


class GroupScoreRequest(CaseReference):
    """One candidate of a group whose members arrive one by one.

    Requests with equal `group`, `size`, `prompt`, case, `reference`, `schedule`, `orders` and `deadline` are members of
    one group. It is judged when it has `size` members, or `deadline` seconds after its first one.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [GROUP_EXAMPLE]})

    group: NonBlankText = Field(description="the name of the group, such as an id of the prompt and the step")
    size: int = Field(ge=1, description="the number of members")
    prompt: Text = Field(description="the prompt that the candidates answer")
    candidate: Text
    reference: NonBlankText | None = Field(None, description="a reference answer, for the schedule anchor")
    schedule: Literal["all_pairs", "circular", "anchor", "swiss"] = Field(
        "circular", description="which members are compared with each other"
    )
    orders: Literal[1, 2] = Field(2, description="judge each pair in one order or in both")
    deadline: float | None = Field(None, gt=0, description="seconds to wait for members; by default the server's limit")

    @model_validator(mode="after")
    def _comparable(self) -> "GroupScoreRequest":
        if self.reference is not None and self.schedule != "anchor":
            raise ValueError("only the schedule anchor uses a reference")
        if self.reference is None and self.size < 2:
            raise ValueError("one candidate cannot be compared: send a reference, or a larger size")
        return self


class GroupScoreResponse(ResponseModel):
    """The score in [0, 1] of one member. `members`, `games` and `invalid` count the members of its group and their
    comparisons, with those without a valid answer."""

    judge: str
    score: float
    members: int
    games: int
    invalid: int


class ScoreResponse(ResponseModel):
    """One score in [0, 1] per candidate, in order; null if none of its comparisons has a valid answer. Of a judge that
    scores candidates alone the judge's own score, with `games` 0; `invalid` then counts candidates without one.

    `games` is the number of comparisons, `invalid` the number of those without a valid answer.
    """

    id: str
    judge: str
    scores: list[float | None]
    games: int
    invalid: int
    seconds: float
