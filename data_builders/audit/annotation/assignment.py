"""Assigns pairs to annotators: which pairs, in which order, and which side first, as a function of names and answers.

Order and side are drawn separately for each annotator and round, so no position and no side is favoured, and a pair of
the second round does not keep its position of the first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data_builders.audit.annotation.annotations import Answer, Round, read_answers
from data_builders.audit.annotation.record_log import AnswerFileError, check_known
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import ReasoningPair
from judge_r1.core.verdicts import Preference


@dataclass(frozen=True)
class AnnotatorRound:
    """The round of one annotator: pair ids in order, and the answers given so far."""

    annotator: str
    round: Round
    order: Sequence[str]
    answers: Mapping[str, Answer]

    @property
    def answered(self) -> int:
        return sum(pair_id in self.answers for pair_id in self.order)

    @property
    def complete(self) -> bool:
        return self.answered == len(self.order)

    def next_index(self) -> int | None:
        """Return the index of the first pair without an answer; None if all have one."""
        return next((index for index, pair_id in enumerate(self.order) if pair_id not in self.answers), None)


def latest_answers(answers: Iterable[Answer], annotator: str, round_: Round) -> dict[str, Answer]:
    """Return the last answer of an annotator to each pair of a round."""
    return {a.pair_id: a for a in answers if a.annotator == annotator and a.round == round_}


def annotators(answers: Iterable[Answer]) -> list[str]:
    return sorted({answer.annotator for answer in answers})


def first_round(data: PairSet, answers: Iterable[Answer], annotator: str) -> AnnotatorRound:
    """Return the round over all pairs."""
    return AnnotatorRound(
        annotator, 1, _shuffled((p.pair_id for p in data.pairs), annotator, 1), latest_answers(answers, annotator, 1)
    )


def second_round(data: PairSet, answers: Sequence[Answer], annotator: str) -> AnnotatorRound | None:
    """Return the round over the pairs whose first choice differs from the label; None until the first is complete."""
    first = first_round(data, answers, annotator)
    if not first.complete:
        return None
    labels = {pair.pair_id: pair.preferred for pair in data.pairs}
    differing = (i for i in first.order if first.answers[i].choice != labels[i])
    return AnnotatorRound(annotator, 2, _shuffled(differing, annotator, 2), latest_answers(answers, annotator, 2))


def _shuffled(pair_ids: Iterable[str], annotator: str, round_: Round) -> list[str]:
    return sorted(pair_ids, key=lambda pair_id: content_hash("order", pair_id, annotator, round_))


def first_side(pair: ReasoningPair, annotator: str, round_: Round) -> Preference:
    """Return the side of the pair that the page shows first, as A."""
    return "A" if int(content_hash("side", pair.pair_id, annotator, round_), 16) % 2 == 0 else "B"


def page_key(pair_id: str, annotator: str, round_: Round) -> str:
    """Return the name of a pair on its page. The pair id is no option, because it is a hash of the label too."""
    return content_hash("page", pair_id, annotator, round_)


def load_audit(folder: Path, answers: Path) -> tuple[PairSet, list[Answer]]:
    """Load pairs and the answers about them.

    Raises:
        AnswerFileError: the file has no answers, or answers of other pairs.
    """
    data, found = load_pairs(folder), read_answers(answers)
    if not found:
        raise AnswerFileError(f"{answers} has no answers yet: collect them with judge-r1 audit serve {folder}")
    check_known((answer.pair_id for answer in found), data.by_id(), answers)
    return data, found
