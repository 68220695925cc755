"""Verdicts of judges: a comparison, scores, a ranking, a checklist or invalid; and the judgment that holds one."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from judge_r1.core.memory import DocumentMemory
from judge_r1.core.record_base import NonEmpty, PrincipleNumber, Record

Preference = Literal["A", "B"]
Winner = Literal["A", "B", "tie"]
Comparison = Literal["A>B", "A<B"]
_WINNERS: dict[str, Preference] = {"A>B": "A", "A<B": "B"}
GOOD = ("pass", "passed", "yes", "true", "1", "good", "correct")
BAD = ("fail", "failed", "no", "false", "0", "bad", "incorrect")
SIDES = {
    "A": ("a", "1", "left", "model_a", "response_a", "a>b", "first"),
    "B": ("b", "2", "right", "model_b", "response_b", "a<b", "b>a", "second"),
    "tie": ("tie", "0", "equal", "both", "same", "tie (bothbad)", "a=b", "c"),
}
"""The words that people write for good and bad, and for the sides of a pair, in lower case."""


class PairwiseVerdict(Record):
    """The better of two candidates as shown, or a tie."""

    kind: Literal["comparison"] = "comparison"
    winner: Winner


class ScoresVerdict(Record):
    """One score per candidate, higher is better."""

    kind: Literal["scores"] = "scores"
    scores: tuple[float, ...] = Field(min_length=1)


class RankingVerdict(Record):
    """Candidate indices, best first."""

    kind: Literal["ranking"] = "ranking"
    order: tuple[int, ...] = Field(min_length=1)


class ChecklistVerdict(Record):
    """One score per named question of a checklist, with the judge's reasons by question, if it gave any. `cited` is the
    passage of the judged text that an answer rests on, as (start, end), for judges that search the text."""

    kind: Literal["checklist"] = "checklist"
    scores: dict[str, float]
    reasons: dict[str, str] = Field(default_factory=dict)
    cited: dict[str, tuple[int, int]] = Field(default_factory=dict)


class LocatedVerdict(Record):
    """The better of two conversations as shown, and where the other one fails: the round, from 1, and the key of the
    failure type (`judge_r1.core.conversations`). A round or type that the judge did not name is None."""

    kind: Literal["located"] = "located"
    winner: Winner
    round: int | None = None
    failure: str | None = None


PROMPT_TOO_LONG = "prompt_too_long"
"""The reason where a prompt exceeds our limit or the model's context, so that nothing ran."""
CONTEXT_OVERFLOW = "context_overflow"
"""The reason where an endpoint refused a prompt that exceeds its model's context."""


UNANSWERED = ("refused", "malformed_reply", "reply_too_large")
"""The reasons where a server fails on one request in the same way on each attempt, and answers others."""


class InvalidVerdict(Record):
    """No verdict; `reason` names the failure, so that failures can be counted by kind."""

    kind: Literal["invalid"] = "invalid"
    reason: NonEmpty

    @property
    def unanswered(self) -> bool:
        """Whether the server refused the request, or gave no usable reply to it, on each attempt."""
        return self.reason in UNANSWERED

    @property
    def does_not_fit(self) -> bool:
        """Whether the model could not read the prompt, which is no error of the judge."""
        return self.reason in (PROMPT_TOO_LONG, CONTEXT_OVERFLOW)


Verdict = Annotated[
    PairwiseVerdict | ScoresVerdict | RankingVerdict | ChecklistVerdict | LocatedVerdict | InvalidVerdict,
    Field(discriminator="kind"),
]


def preference(verdict: Verdict) -> Winner | None:
    """The preference between two candidates that a verdict implies: the higher of two scores, the first of a ranking
    of two. None for an invalid verdict, a checklist, and verdicts on one candidate or more than two."""
    match verdict:
        case PairwiseVerdict() | LocatedVerdict():
            return verdict.winner
        case ScoresVerdict(scores=(a, b)):
            return "tie" if a == b else "A" if a > b else "B"
        case RankingVerdict(order=(best, _)):
            return "A" if best == 0 else "B"
    return None


def reorder(verdict: Verdict, order: Sequence[int]) -> Verdict:
    """A verdict on candidates shown in `order`, in terms of the candidates' own indices. `order` is a permutation;
    a checklist has no order."""
    if tuple(order) == tuple(range(len(order))):
        return verdict
    match verdict:
        case PairwiseVerdict(winner="A" | "B" as shown):
            return PairwiseVerdict(winner="A" if order["AB".index(shown)] == 0 else "B")
        case LocatedVerdict(winner="A" | "B" as shown):
            return verdict.model_copy(update={"winner": "A" if order["AB".index(shown)] == 0 else "B"})
        case ScoresVerdict():
            by_candidate = sorted(zip(order, verdict.scores, strict=True))
            return ScoresVerdict(scores=tuple(score for _, score in by_candidate))
        case RankingVerdict():
            return RankingVerdict(order=tuple(order[shown] for shown in verdict.order))
    return verdict


def comparison_of(winner: Winner | None) -> Comparison | None:
    """The paper's notation of a preference; None for a tie."""
    return "A>B" if winner == "A" else "A<B" if winner == "B" else None


def describe_verdict(verdict: Verdict, order: Sequence[int] = ()) -> str:
    """A verdict in words, such as `A is better` or `A 7, B 4`. `order` lists the candidates in the order shown."""

    def name(position: int) -> str:
        return letter(order[position] if position < len(order) else position)

    match verdict:
        case InvalidVerdict():
            failure = "the prompt does not fit" if verdict.does_not_fit else "no valid answer"
            return f"{failure} ({verdict.reason})"
        case PairwiseVerdict():
            return "tie" if verdict.winner == "tie" else f"{name('AB'.index(verdict.winner))} is better"
        case LocatedVerdict():
            better = "tie" if verdict.winner == "tie" else f"{name('AB'.index(verdict.winner))} is better"
            return f"{better}; the other fails in round {verdict.round or '?'}: {verdict.failure or '?'}"
        case ScoresVerdict(scores=(score,)):
            return f"{score:g}"
        case ScoresVerdict():
            return ", ".join(f"{name(position)} {score:g}" for position, score in enumerate(verdict.scores))
        case RankingVerdict():
            return " > ".join(map(name, verdict.order))
        case ChecklistVerdict():
            return ", ".join(f"{question}: {score:g}" for question, score in verdict.scores.items())


def letter(index: int) -> str:
    """The name of a candidate: A to Z, then numbers from 27."""
    return chr(ord("A") + index) if index < 26 else str(index + 1)


class Evidence(Record):
    """A passage that an episode showed: `text` is `context[start:end]` of the case."""

    case_id: str
    start: int = Field(ge=0)
    end: int
    text: str
    score: float


class Judgment(Record):
    """What a judge returns. `evidence` holds the passages that the episode showed, never what the answer claims.

    `memory` holds the notes of a judge that reads in sections, one memory per candidate; it is left out where empty.

    A judgment that prefers A or B is stored and sent in the paper's form, with the key `comparison` in the place of
    `verdict`; both forms are read.
    """

    verdict: Verdict
    violated_principles: tuple[PrincipleNumber, ...] = ()
    explanation: str | None = None
    evidence: tuple[Evidence, ...] = ()
    confidence: float | None = Field(default=None, ge=0, le=1)
    memory: tuple[DocumentMemory, ...] = ()

    @classmethod
    def pairwise(
        cls,
        comparison: Comparison,
        violated_principles: Sequence[int] = (),
        explanation: str | None = None,
        evidence: Sequence[Evidence] = (),
    ) -> "Judgment":
        """A judgment in the paper's form (Table 8)."""
        return cls(
            verdict=PairwiseVerdict(winner=_WINNERS[comparison]),
            violated_principles=tuple(violated_principles),
            explanation=explanation,
            evidence=tuple(evidence),
        )

    @property
    def comparison(self) -> Comparison | None:
        """The preference that the verdict implies (`preference`); None for ties and verdicts without one."""
        return comparison_of(preference(self.verdict))

    def swapped(self) -> "Judgment":
        """The judgment on the same two candidates shown in the other order."""
        return self.model_copy(update={"verdict": reorder(self.verdict, (1, 0))})

    @model_validator(mode="before")
    @classmethod
    def _read_comparison(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "comparison" not in data:
            return data
        if "verdict" in data:
            raise ValueError("give verdict or comparison, not both")
        if not isinstance(data["comparison"], str) or data["comparison"] not in _WINNERS:
            raise ValueError(f"comparison must be 'A>B' or 'A<B', not {data['comparison']!r}")
        rest = {name: value for name, value in data.items() if name != "comparison"}
        return {"verdict": PairwiseVerdict(winner=_WINNERS[data["comparison"]]), **rest}

    @model_serializer(mode="wrap")
    def _write_comparison(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        if not self.memory:
            data.pop("memory", None)
        if "verdict" not in data or not isinstance(self.verdict, PairwiseVerdict) or self.verdict.winner == "tie":
            return data
        del data["verdict"]
        return {"comparison": self.comparison, **data}


class Parts(NamedTuple):
    """Which parts of a verdict are right. A missing part is wrong."""

    side: bool
    round: bool
    type: bool


def parts_correct(verdict: Verdict, gold: LocatedVerdict) -> Parts:
    """Compare a verdict with the gold."""
    side = preference(verdict) == gold.winner
    if not isinstance(verdict, LocatedVerdict):
        return Parts(side, False, False)
    return Parts(side, verdict.round == gold.round, verdict.failure == gold.failure)
