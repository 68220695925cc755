"""Judges of conversations without a model: chance, checks of the form alone, and checks that read the document."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from judge_r1.benchmarks.pairwise import vote_of
from judge_r1.benchmarks.rankjudge import checks
from judge_r1.core.conversation_types import FAILURES
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote, item_result
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import LocatedVerdict

Aggregate = Callable[[Item, Sequence[Vote]], AggregatedVerdict]
PANELS: Mapping[str, Sequence[checks.Check]] = {
    "form: odd length": (checks.odd_length,),
    "form: refusal words": (checks.refusal,),
    "form: no question back": (checks.no_question,),
    "check: directive": (checks.broken_directive,),
    "check: changed value": (checks.changed_statement,),
    "check: wrong refusal": (checks.wrong_refusal,),
    "check: unsupported": (checks.unsupported,),
    "check: answers the question": (checks.missing_answer,),
    "check: directive, value, refusal": (checks.broken_directive, checks.changed_statement, checks.wrong_refusal),
    "check: all but answers": (
        checks.wrong_refusal, checks.unsupported, checks.broken_directive, checks.changed_statement, checks.unasked
    ),
    "check: all": checks.CONTENT,
}  # fmt: skip
"""The checks of each baseline. Those named `form` read no content: well above chance, they show a leak."""
CHANCE = "chance"


def baseline_results(
    items: Sequence[Item], texts: Mapping[str, str], aggregate: Aggregate
) -> dict[str, list[ItemResult]]:
    """The results of every baseline, with both conversations in stored order."""
    names = {CHANCE: (), **PANELS}
    return {
        name: [_result(name, found, item, texts[item.cluster_id], aggregate) for item in items]
        for name, found in names.items()
    }


def _result(name: str, found: Sequence[checks.Check], item: Item, text: str, aggregate: Aggregate) -> ItemResult:
    vote = vote_of((0, 1), verdict_of(name, found, item, text))
    return item_result(name, item, [vote], aggregate(item, [vote]))


def verdict_of(name: str, found: Sequence[checks.Check], item: Item, text: str) -> LocatedVerdict:
    """The conversation with the strongest suspicion is worse. Without any, all three parts are drawn by chance."""
    suspicions = []
    for side, talk in enumerate(item.candidates):
        if not isinstance(talk, str):
            suspicions += [(suspicion, side) for check in found for suspicion in check(talk, text)]
    strongest = max((suspicion.weight for suspicion, _ in suspicions), default=0.0)
    tied = [pair for pair in suspicions if pair[0].weight == strongest]
    draw = int(content_hash("conversation baseline", name, item.item_id), 16)
    if tied:
        suspicion, side = tied[draw % len(tied)]
        return LocatedVerdict(winner=_other(side), round=suspicion.round, failure=suspicion.failure)
    side, draw = draw % 2, draw // 2
    rounds = len(item.candidates[side]) // 2
    return LocatedVerdict(
        winner=_other(side), round=draw % rounds + 1, failure=FAILURES[draw // rounds % len(FAILURES)].key
    )


def _other(side: int) -> Literal["A", "B"]:
    return "B" if side == 0 else "A"
