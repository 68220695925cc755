"""Writes rationales for `mini-conversations`: quote each turn, check some of them in the document, name the flaw.

The writers differ only in the turns that they check. A check searches the person and puts the record next to what the
side says: `same`, or `differs` and the flaw. An answer about another person is a flaw without a check.
"""

from collections.abc import Callable, Collection
from functools import partial
from random import Random

from data_builders.rationales.base import WRITERS, Rationale
from data_builders.sources.mini import facts_of
from judge_r1.core.conversation_types import failure_type
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.transcripts import TranscriptPair
from judge_r1.episode.config import EpisodeConfig

Turn = tuple[str, int]
"""The side, A or B, and the round from 1."""
Chooser = Callable[[ReasoningPair, Collection[Turn], int], Collection[Turn]]
"""(pair, turns, number of searches) -> the turns to check."""


def write_mini_conversations(case: Case, pair: ReasoningPair, config: EpisodeConfig, *, choose: Chooser) -> Rationale:
    """Goes through A and then B, and ends at the flaw, or after the last turn. Gives up on pairs of reasonings."""
    if not isinstance(pair, TranscriptPair) or not config.search:
        return
    failure = failure_type(pair.failure)
    assert failure is not None, "the record checks the failure"
    worse = "B" if pair.preferred == "A" else "A"
    verdict = f" {worse} worse {pair.flawed_round} {failure.letter}</think>"
    turns = [(side, number) for side in "AB" for number in range(1, len(pair.conversations[0]) // 2 + 1)]
    chosen, thought = choose(pair, turns, config.budget.max_searches), "<think>"
    for side, number in turns:
        talk = pair.conversations["AB".index(side)]
        question, answer = talk[2 * number - 2].content, talk[2 * number - 1].content.rstrip(".")
        who, said = question.rstrip("?").split()[0], facts_of(answer)
        thought += f" {side} {number}. {question} {answer}"
        if said and said[0].who != who:
            yield f"{thought} no{verdict}"
            return
        if (side, number) not in chosen:
            thought += " skip"
            continue
        passages = yield f"{thought} check</think><search> {who}</search>"
        record = next((fact for passage in passages for fact in facts_of(passage.text) if fact.who == who), None)
        claim = said[0] if said else None
        differs = claim != record
        compared = f"{record or f'{who} none'} {side} {claim or 'none'} {'differs' if differs else 'same'}"
        thought = f"<think> record {compared}"
        if differs:
            yield f"{thought}{verdict}"
            return
    yield f"{thought}{verdict}"


def undirected(pair: ReasoningPair, turns: Collection[Turn], searches: int) -> Collection[Turn]:
    """One to `searches` turns, drawn without looking at them."""
    rng = Random(content_hash("turns", pair.pair_id))
    return rng.sample(list(turns), rng.randint(1, min(searches, len(turns))))


def every(pair: ReasoningPair, turns: Collection[Turn], searches: int) -> Collection[Turn]:
    """All turns, as far as the searches go."""
    return list(turns)[:searches]


WRITERS.register("mini-conversations")(partial(write_mini_conversations, choose=undirected))
WRITERS.register("mini-conversations-careful")(partial(write_mini_conversations, choose=every))
