"""The shared records: frozen and strict pydantic models, stored as one JSON object per line.

Ids depend on content alone: `case_id = H(domain, context, decision, reference)` and
`pair_id = H(case_id, reference, flawed, violated)`, over canonical JSON of NFC-normalised text.
No id depends on which reasoning is shown as A: `hash(pair_id, seed)`, or its opposite (`placed`).
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from judge_r1.core.principles import by_number
from judge_r1.core.record_base import NonEmpty, NotBlank, PrincipleNumber, PrincipleNumbers, Record, content_hash
from judge_r1.core.verdicts import UNANSWERED, Evidence, Judgment, Preference

DOMAIN = r"^[a-z][a-z0-9_ -]*$"
"""A domain is a plain lower-case name, because it is part of the trusted text of prompts."""
Domain = Annotated[str, Field(pattern=DOMAIN)]


class Span(Record):
    """Characters `[start, end)` of some text."""

    start: int = Field(ge=0)
    end: int

    @model_validator(mode="after")
    def _not_empty(self) -> "Span":
        if self.end <= self.start:
            raise ValueError(f"span end {self.end} must be greater than its start {self.start}")
        return self


class Case(Record):
    """One self-contained situation: its context, the decision, and the reference reasoning y*."""

    schema_: Literal[1] = Field(1, alias="schema")
    case_id: NonEmpty
    domain: Domain
    context: NotBlank
    decision: NotBlank
    reference: NotBlank
    source: NonEmpty
    license: NonEmpty
    meta: dict[str, Any] = Field(default_factory=dict)

    # Whenever a record is read: a case edited by hand would keep the id by which splits and results know the old one.
    @model_validator(mode="after")
    def _id_matches_content(self) -> "Case":
        expected = content_hash(self.domain, self.context, self.decision, self.reference)
        if self.case_id != expected:
            raise ValueError(f"case_id {self.case_id} does not match its content ({expected}): rebuild the file")
        return self

    @property
    def group(self) -> str:
        """The name of what the case belongs to, such as one article or paper: `meta.group` within the domain, or else
        the case's id. Cases of one group are not independent."""
        group = self.meta.get("group")
        return self.case_id if group in (None, "") else f"{self.domain}/{group}"

    @classmethod
    def of(
        cls,
        *,
        domain: str,
        context: str,
        decision: str,
        reference: str,
        source: str,
        license: str,
        meta: dict[str, Any] | None = None,
    ) -> "Case":
        """A case with the id computed from its content."""
        case_id = content_hash(domain, context, decision, reference)
        return cls(
            schema=1,
            case_id=case_id,
            domain=domain,
            context=context,
            decision=decision,
            reference=reference,
            source=source,
            license=license,
            meta=meta or {},
        )


class Flaw(Record):
    """One deliberate flaw: the principle it violates, the operator that wrote it, its span in the flawed reasoning, and
    the spans of the case's context that it contradicts (none if the flaw needs no context)."""

    principle: PrincipleNumber
    operator: NonEmpty
    span: Span
    context_spans: tuple[Span, ...] = ()


ATTACK = ", attack "
"""Stands between the teacher and the attack in the origin of an attacked pair."""


class Origin(Record):
    """The origin of a flawed reasoning."""

    teacher: NonEmpty
    seed: int
    prompt_hash: str | None = None
    flaws: tuple[Flaw, ...] = Field(min_length=1)

    @property
    def attacked(self) -> bool:
        """Whether `judge-r1 attack` added text, so that the reasoning differs outside its flaws, too."""
        return ATTACK in self.teacher


class ReasoningPair(Record):
    """The paper's task tuple (Eq. 1): two reasonings of one case, the better one, and the principles that the other
    violates."""

    schema_: Literal[1] = Field(1, alias="schema")
    pair_id: NonEmpty
    case_id: NonEmpty
    domain: Domain
    reasoning_a: NotBlank
    reasoning_b: NotBlank
    preferred: Preference
    violated: PrincipleNumbers = Field(min_length=1)
    kind: Literal["single", "multi"]
    variant: int = Field(ge=1)
    origin: Origin

    @model_validator(mode="after")
    def _consistent(self) -> "ReasoningPair":
        if (len(self.violated) == 1) != (self.kind == "single"):
            raise ValueError(f"kind {self.kind!r} does not fit the number of violated principles, {len(self.violated)}")
        if self.reasoning_a == self.reasoning_b:
            raise ValueError("the two reasonings are identical")
        if tuple(sorted({flaw.principle for flaw in self.origin.flaws})) != self.violated:
            raise ValueError("the principles of origin.flaws differ from violated")
        for flaw in self.origin.flaws:
            if flaw.span.end > len(self.flawed):
                raise ValueError(f"flaw span {flaw.span.start}-{flaw.span.end} ends outside the flawed reasoning")
        expected = content_hash(self.case_id, self.reference, self.flawed, list(self.violated))
        if self.pair_id != expected:
            raise ValueError(f"pair_id {self.pair_id} does not match its content ({expected}): rebuild the file")
        return self

    @property
    def reference(self) -> str:
        """The better reasoning, y*."""
        return self.reasoning_a if self.preferred == "A" else self.reasoning_b

    @property
    def flawed(self) -> str:
        """The worse reasoning, ỹ."""
        return self.reasoning_b if self.preferred == "A" else self.reasoning_a

    @property
    def gold(self) -> "Judgment":
        """The judgment that scores r = 1.0."""
        return Judgment.pairwise("A>B" if self.preferred == "A" else "A<B", self.violated)

    @property
    def labels(self) -> Sequence[str]:
        """What the pair counts under in metrics: its domain and the codes of its principles."""
        return [self.domain, *(by_number(number).code for number in self.violated)]

    def placed(self, preferred: Preference) -> "ReasoningPair":
        """The same pair with the better reasoning on the side `preferred`."""
        if preferred == self.preferred:
            return self
        sides = {"reasoning_a": self.reasoning_b, "reasoning_b": self.reasoning_a}
        return self.model_copy(update={"preferred": preferred, **sides})

    @classmethod
    def of(cls, case: Case, flawed: str, *, variant: int, origin: Origin, seed: int) -> "ReasoningPair":
        """The pair of `case.reference` and `flawed`, in the order given by `hash(pair_id, seed)`."""
        violated = tuple(sorted({flaw.principle for flaw in origin.flaws}))
        pair_id = content_hash(case.case_id, case.reference, flawed, list(violated))
        # By hash and not by a generator, so that a pair is placed alike whatever was built before it.
        a_is_better = int(content_hash(pair_id, seed), 16) % 2 == 0
        first, second = (case.reference, flawed) if a_is_better else (flawed, case.reference)
        return cls(
            schema=1,
            pair_id=pair_id,
            case_id=case.case_id,
            domain=case.domain,
            reasoning_a=first,
            reasoning_b=second,
            preferred="A" if a_is_better else "B",
            violated=violated,
            kind="single" if len(violated) == 1 else "multi",
            variant=variant,
            origin=origin,
        )


class ToolCall(Record):
    """A call of a tool in a turn, and what the judge read of its result. `refused` calls did not run: the turn's notice
    says why. `limit`: the call was stopped at a limit of time, memory or output."""

    name: str
    input: str
    status: Literal["ok", "error", "limit", "refused"]
    output: str = ""


class Turn(Record):
    """One turn of an episode: the text of the policy, and the observation after it. `call` is left out of the JSON of a
    turn without one."""

    text: str
    query: str | None = None
    passages: tuple[Evidence, ...] = ()
    passages_dropped: int = 0
    notice: str | None = None
    observation: str | None = None
    call: ToolCall | None = None

    @model_serializer(mode="wrap")
    def _leave_out_call(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        if self.call is None:
            data.pop("call", None)
        return data


INFRASTRUCTURE = "infrastructure_"
"""Prefix of `ended` for episodes that an infrastructure failure ended."""


class Trajectory(Record):
    """The tokens of one episode, in parallel lists. `loss_mask` is 1 exactly on ids that the policy sampled;
    `logprobs` holds the sampler's log-probability there and 0.0 on environment tokens. `detail` is the message of a
    server that gave no answer; it is left out where there is none."""

    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    loss_mask: tuple[int, ...]
    logprobs: tuple[float, ...]
    turns: tuple[Turn, ...]
    judgment: Judgment | None
    ended: NonEmpty
    text_only: bool = False
    reward: dict[str, float] | None = None
    detail: str | None = None

    @model_serializer(mode="wrap")
    def _leave_out_detail(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        if self.detail is None:
            data.pop("detail", None)
        return data

    @model_validator(mode="after")
    def _parallel(self) -> "Trajectory":
        if not len(self.token_ids) == len(self.loss_mask) == len(self.logprobs):
            raise ValueError("token_ids, loss_mask and logprobs must have the same length")
        return self

    @classmethod
    def without_ids(
        cls, ended: str, turns: Sequence[Turn] = (), judgment: Judgment | None = None, detail: str | None = None
    ) -> "Trajectory":
        """The trajectory of an episode without token ids: it ran as text, or not at all."""
        return cls(
            prompt_ids=(), token_ids=(), loss_mask=(), logprobs=(), turns=tuple(turns), judgment=judgment, ended=ended,
            text_only=True, detail=detail,
        )  # fmt: skip

    @property
    def infrastructure_failed(self) -> bool:
        """Did an infrastructure failure end the episode (a server or a search did not respond)?"""
        return self.ended.startswith(INFRASTRUCTURE)

    @property
    def unanswered(self) -> str | None:
        """The name of a failure that concerns this request alone (`UNANSWERED`), with or without the prefix of
        infrastructure failures; None if there was none."""
        name = self.ended.removeprefix(INFRASTRUCTURE)
        return name if name in UNANSWERED else None

    @property
    def searches(self) -> int:
        return sum(turn.query is not None and turn.notice is None for turn in self.turns)

    @property
    def calls(self) -> Sequence[ToolCall]:
        """The calls of tools, refused ones included."""
        return [turn.call for turn in self.turns if turn.call is not None]


def evidence_of(turns: Sequence[Turn]) -> tuple[Evidence, ...]:
    """All passages of the turns in order, without repeats."""
    return tuple(dict.fromkeys(passage for turn in turns for passage in turn.passages))
