"""Benchmark items, the votes of judges on them, and the result of each item."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from judge_r1.core.record_base import NonEmpty, PrincipleNumber, Record
from judge_r1.core.text_check import counted
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, Verdict, describe_verdict, letter, preference


class ChatMessage(Record):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str


Conversation = tuple[ChatMessage, ...]
Candidate = str | Conversation


def candidate_text(candidate: Candidate) -> str:
    """The candidate as a judge reads it: a text as it is, a conversation as one paragraph per message, `User: …`."""
    if isinstance(candidate, str):
        return candidate
    return "\n\n".join(f"{message.role.capitalize()}: {message.content}" for message in candidate)


class Item(Record):
    """One question of a benchmark with one candidate (pointwise), two (pairwise) or more (listwise, best-of-n).

    A candidate is a text or a conversation; `systems` names the system that wrote each one, where it is known.
    `cluster_id` groups items that are not independent (one case, one question). `group` is the part of the benchmark
    that is reported separately (a domain, a subset). `case_id` names the text that may be searched. The gold of a pair
    is "A", "B" or "tie", and that of best-of-n the index of the best candidate; other protocols define their own.
    """

    item_id: NonEmpty
    cluster_id: NonEmpty
    group: NonEmpty = "all"
    case_id: str | None = None
    instruction: str
    candidates: tuple[Candidate, ...] = Field(min_length=1)
    systems: tuple[NonEmpty, ...] | None = None
    gold: Any

    @property
    def texts(self) -> tuple[str, ...]:
        """The candidates as text (`candidate_text`)."""
        return tuple(candidate_text(candidate) for candidate in self.candidates)

    @model_validator(mode="after")
    def _one_system_each(self) -> "Item":
        if self.systems is not None and len(self.systems) != len(self.candidates):
            raise ValueError(
                f"systems names {counted(len(self.systems), 'system')} for {counted(len(self.candidates), 'candidate')}"
            )
        return self


def _distinct(order: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(order)) < len(order):
        raise ValueError(f"shows a candidate twice: {list(order)}")
    return order


Order = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1), AfterValidator(_distinct)]
"""Candidates in the order in which a judge saw them."""


class Vote(Record):
    """The answer to one request: the candidates `order` as shown, and the verdict in terms of what was shown ("A" is
    the candidate shown first). `member` is the index of the judge in its panel."""

    order: Order
    sample: int = Field(ge=0)
    member: int = Field(ge=0)
    verdict: Verdict
    ended: NonEmpty
    searches: int = Field(ge=0)
    confidence: float | None = Field(None, ge=0, le=1)

    @property
    def winner(self) -> int | None:
        """Of a vote on two candidates, the index of the preferred one; None for a tie or an invalid verdict. Two scores
        and a ranking of two imply a preference, too."""
        shown = preference(self.verdict) if len(self.order) == 2 else None
        return None if shown in (None, "tie") else self.order["AB".index(shown)]


class AggregatedVerdict(Record):
    """The verdict of all votes on an item, in terms of the item's candidates, and its score against the gold."""

    verdict: Verdict
    score: float = Field(ge=0, le=1)


class LabelResult(Record):
    """The principles of one item, gold and predicted, for benchmarks that label them.

    `predicted` is None where no verdict decides the item: it is invalid or a tie. `valid_strict` and `valid_tolerant`
    say whether each parser accepts the answer, and are None for a judge that writes no text. `evidence_hit` says
    whether the episode showed context that a flaw contradicts, and is None where no flaw contradicts any. `reward` is
    the breakdown of `judge_r1.episode.reward`.
    """

    kind: Literal["single", "multi"]
    violated: tuple[PrincipleNumber, ...] = Field(min_length=1)
    predicted: tuple[PrincipleNumber, ...] | None
    valid_strict: bool | None
    valid_tolerant: bool | None
    evidence_hit: bool | None
    reward: dict[str, float]


class ItemResult(Record):
    """The result of one item. `score` is 1 if the verdict is right and 0 if it is wrong or invalid; some protocols give
    partial scores. `labels` holds the label scores of items whose violated principles are known.
    """

    schema_: Literal[2] = Field(2, alias="schema")
    judge: NonEmpty
    item_id: NonEmpty
    cluster_id: NonEmpty
    group: NonEmpty
    gold: Any
    verdict: Verdict
    score: float = Field(ge=0, le=1)
    votes: tuple[Vote, ...] = Field(min_length=1)
    labels: LabelResult | None = None

    @property
    def answered(self) -> bool:
        """Whether the server answered every request for the item, with whatever text."""
        return not any(isinstance(vote.verdict, InvalidVerdict) and vote.verdict.unanswered for vote in self.votes)

    @property
    def valid(self) -> bool:
        """Whether there is a verdict and, for labelled items, predicted labels."""
        return not isinstance(self.verdict, InvalidVerdict) and (
            self.labels is None or self.labels.predicted is not None
        )


def item_result(
    judge: str, item: Item, votes: Sequence[Vote], aggregated: AggregatedVerdict, labels: LabelResult | None = None
) -> ItemResult:
    """The result of `judge` on `item`, with the votes behind it."""
    return ItemResult(
        judge=judge,
        item_id=item.item_id,
        cluster_id=item.cluster_id,
        group=item.group,
        gold=item.gold,
        verdict=aggregated.verdict,
        score=aggregated.score,
        votes=tuple(votes),
        labels=labels,
    )


def describe_result(outcome: ItemResult) -> str:
    """The result of an item in words. Best-of-n by pairwise votes prefers neither A nor B."""
    shown = {index for vote in outcome.votes for index in vote.order}
    if isinstance(outcome.verdict, PairwiseVerdict) and shown > {0, 1}:
        return "the best one wins" if outcome.score == 1 else "the best one does not win"
    return describe_verdict(outcome.verdict, range(max(len(outcome.votes[0].order), 2)))


def describe_gold(item: Item) -> str:
    if item.gold in ("A", "B"):
        return f"{item.gold} is better"
    if (best := best_of(item)) is not None:
        return f"{letter(best)} is best"
    return item.gold if isinstance(item.gold, str) else json.dumps(item.gold, ensure_ascii=False, default=str)


def best_of(item: Item) -> int | None:
    """The index of the best candidate, if the gold names one."""
    if item.gold in ("A", "B") and len(item.candidates) == 2:
        return "AB".index(item.gold)
    whole = isinstance(item.gold, int) and not isinstance(item.gold, bool)
    return item.gold if whole and 0 <= item.gold < len(item.candidates) and len(item.candidates) > 1 else None
