"""Records of conversation pairs: the documents that they are about, the pairs, and their plans."""

from typing import Any, Literal, NamedTuple

from pydantic import Field, SerializerFunctionWrapHandler, StrictBool, model_serializer, model_validator

from judge_r1.core.items import Conversation
from judge_r1.core.record_base import NonEmpty, Record, content_hash
from judge_r1.core.verdicts import Preference

DOCUMENTS_FILE, CONVERSATIONS_FILE, VERIFICATION_FILE = "documents.jsonl", "conversations.jsonl", "verification.jsonl"


class FailureType(NamedTuple):
    """A failure of one assistant turn. `flaw` describes it to judges and writers, `virtue` the sound behaviour in the
    same situation. `needs_earlier` says that an earlier turn is part of the flaw, so round 1 cannot hold it."""

    letter: str
    key: str
    flaw: str
    virtue: str
    needs_earlier: bool = False


class UserBehaviour(NamedTuple):
    """A style of asking."""

    key: str
    style: str


FAILURES = (
    FailureType(
        "A", "self_contradiction",
        "A later turn no longer agrees with a correct statement of an earlier turn: a value, qualifier or implication "
        "has changed, and the assistant does not say so. The flawed turn is the later one.",
        "Statements keep their scope and strength over all turns. A change of view is announced with its reason.",
        True,
    ),
    FailureType(
        "B", "evasion",
        "The turn sounds informed but does not give what was asked: it is precise about something else and leaves the "
        "requested point out.",
        "Every turn gives the requested point, with its numbers and terms.",
    ),
    FailureType(
        "C", "disorganized",
        "The turn holds the right content in a poor order: the requested point is buried between side remarks.",
        "The requested point comes first, and the rest follows in order.",
    ),
    FailureType(
        "D", "fabricated_answer",
        "The document does not answer the question, and the turn gives an invented answer with confidence.",
        "A question that the document cannot answer is answered by saying so.",
    ),
    FailureType(
        "E", "instruction_forgetting",
        "The user gave an early directive about the content. It is kept at first, then silently broken in this turn.",
        "The directive shapes all later turns.",
        True,
    ),
    FailureType(
        "F", "no_clarification",
        "The question has several readings, and the turn picks one without asking and answers firmly.",
        "An ambiguous question is met with a question about what is meant. Clear questions are answered.",
        True,
    ),
    FailureType(
        "G", "unnecessary_refusal",
        "The turn declines to answer or says that the document is silent, although the document holds the answer.",
        "Questions that the document answers are answered without hedging.",
    ),
)  # fmt: skip
BEHAVIOURS = (
    UserBehaviour("focused", "stays with one or two aspects and asks follow-up questions"),
    UserBehaviour("integrative", "connects and compares parts of the document"),
    UserBehaviour("scattered", "jumps between unrelated parts"),
    UserBehaviour("skeptical", "doubts statements and asks for what the document says"),
    UserBehaviour("misinformed", "states false premises with confidence, which the assistant has to correct"),
    UserBehaviour("exploratory", "asks about consequences and extensions"),
    UserBehaviour("underspecified", "asks briefly and with vague references"),
)
FAILURE_KEYS = tuple(failure.key for failure in FAILURES)
BEHAVIOUR_KEYS = tuple(behaviour.key for behaviour in BEHAVIOURS)
ROUNDS = (3, 4, 5, 6, 7)
_BY_NAME = {name: failure for failure in FAILURES for name in (failure.letter, failure.key)}


def failure_type(name: str) -> FailureType | None:
    """The failure with this letter or key, in any case; None for another name."""
    return _BY_NAME.get(name.strip().upper()) or _BY_NAME.get(name.strip().lower())


class Document(Record):
    """The reference text of conversations."""

    schema_: Literal[1] = Field(1, alias="schema")
    document_id: NonEmpty
    domain: NonEmpty
    context: NonEmpty
    source: NonEmpty
    license: str = "unknown"


class ConversationPair(Record):
    """Two conversations about one document. The worse one has exactly one flaw, of type `failure`, in the assistant
    turn of round `flawed_round` (from 1); the better one has none.

    `plan_better` and `plan_worse` say for each round what the user asks and how the assistant answers.
    """

    schema_: Literal[1] = Field(1, alias="schema")
    pair_id: NonEmpty
    document_id: NonEmpty
    domain: NonEmpty
    conversation_a: Conversation
    conversation_b: Conversation
    preferred: Preference
    failure: NonEmpty
    flawed_round: int = Field(ge=1)
    user_behaviour: NonEmpty
    rounds: int = Field(ge=1)
    plan_better: tuple[str, ...]
    plan_worse: tuple[str, ...]
    generator: NonEmpty
    seed: int

    @property
    def better(self) -> Conversation:
        return self.conversation_a if self.preferred == "A" else self.conversation_b

    @property
    def worse(self) -> Conversation:
        return self.conversation_b if self.preferred == "A" else self.conversation_a

    @model_validator(mode="after")
    def _check(self) -> "ConversationPair":
        if self.failure not in FAILURE_KEYS:
            raise ValueError(f"failure must be one of {', '.join(FAILURE_KEYS)}, not {self.failure!r}")
        if self.user_behaviour not in BEHAVIOUR_KEYS:
            raise ValueError(f"user_behaviour must be one of {', '.join(BEHAVIOUR_KEYS)}, not {self.user_behaviour!r}")
        if self.flawed_round > self.rounds:
            raise ValueError(f"flawed_round {self.flawed_round} is beyond the {self.rounds} rounds")
        for name, conversation in (("a", self.conversation_a), ("b", self.conversation_b)):
            roles = [message.role for message in conversation]
            if roles != ["user", "assistant"] * self.rounds:
                raise ValueError(
                    f"conversation_{name} must alternate user and assistant for {self.rounds} rounds, "
                    f"and has {len(roles)} messages"
                )
        return self


class Claim(Record):
    """A factual claim of an assistant turn, and whether the document supports it."""

    claim: str
    grounded: StrictBool


class Verification(Record):
    """What the verifier said of a candidate pair; `failed` is the first layer that failed. Layers after it are None.

    `grounded_better` and `grounded_worse` are shares of grounded claims; the flawed turn does not count. `empty_turns`
    counts assistant turns without any claim, and `unlisted_turns` those of them that state something. `claims_better`
    and `claims_worse` hold the claims of each round, none for the flawed turn; None where a teacher listed no claims.
    `pair_hash` names the pair and document that were verified; None if no texts were written.
    """

    schema_: Literal[2] = Field(2, alias="schema")
    pair_id: NonEmpty
    domain: NonEmpty
    failure: NonEmpty
    user_behaviour: NonEmpty
    coherence: bool
    adherence: bool | None = None
    grounded_better: float | None = None
    grounded_worse: float | None = None
    empty_turns: int = 0
    unlisted_turns: int = 0
    pair_hash: str | None = None
    claims_better: tuple[tuple[Claim, ...], ...] | None = None
    claims_worse: tuple[tuple[Claim, ...], ...] | None = None
    issue: str = ""

    @property
    def failed(self) -> Literal["coherence", "adherence", "grounding"] | None:
        if not self.coherence:
            return "coherence"
        if not self.adherence:
            return "adherence"
        all_grounded = self.grounded_better == self.grounded_worse == 1.0
        return None if all_grounded and not self.unlisted_turns else "grounding"

    @model_serializer(mode="wrap")
    def _without_absent_claims(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Verifications by rules have no claims."""
        return {k: v for k, v in handler(self).items() if v is not None or not k.startswith("claims_")}


def pair_hash(pair: ConversationPair, document: Document) -> str:
    """The hash of what a verification is about: all texts and labels of a pair, and its document."""
    return content_hash("verified", pair.model_dump(mode="json"), document.context)
