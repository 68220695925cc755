"""Who is shown which pair, in which order and with which side first: a function of pairs, answers and names.

Order and side are drawn anew for each annotator and round, so that no place in the list and no side is favoured, and
nobody meets a pair of the second round where it stood in the first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data_builders.audit.annotation.annotations import Answer, BadAnswers, Round, read_answers
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.records import Preference, ReasoningPair, content_hash


@dataclass(frozen=True)
class Turn:
    """One annotator's round: the pairs in his order, and what he answered of them so far."""

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

    def next_place(self) -> int | None:
        """The place of the first pair without an answer; None where all have one."""
        return next((at for at, pair_id in enumerate(self.order) if pair_id not in self.answers), None)


def latest(answers: Iterable[Answer], annotator: str, round_: Round) -> dict[str, Answer]:
    """The last answer of one annotator to each pair of a round."""
    return {a.pair_id: a for a in answers if a.annotator == annotator and a.round == round_}


def annotators(answers: Iterable[Answer]) -> list[str]:
    return sorted({answer.annotator for answer in answers})


def first_round(data: PairSet, answers: Iterable[Answer], annotator: str) -> Turn:
    """All pairs."""
    return Turn(annotator, 1, _shuffled((p.pair_id for p in data.pairs), annotator, 1), latest(answers, annotator, 1))


def second_round(data: PairSet, answers: Sequence[Answer], annotator: str) -> Turn | None:
    """The pairs in which choice and label differed in the first round; None until that one is complete."""
    first = first_round(data, answers, annotator)
    if not first.complete:
        return None
    labels = {pair.pair_id: pair.preferred for pair in data.pairs}
    again = (i for i in first.order if first.answers[i].choice != labels[i])
    return Turn(annotator, 2, _shuffled(again, annotator, 2), latest(answers, annotator, 2))


def _shuffled(pair_ids: Iterable[str], annotator: str, round_: Round) -> list[str]:
    return sorted(pair_ids, key=lambda pair_id: content_hash("order", pair_id, annotator, round_))


def first_side(pair: ReasoningPair, annotator: str, round_: Round) -> Preference:
    """Which of the pair's reasonings stands on the left, as A."""
    return "A" if int(content_hash("side", pair.pair_id, annotator, round_), 16) % 2 == 0 else "B"


def page_key(pair_id: str, annotator: str, round_: Round) -> str:
    """What a page calls its pair: the id itself is a hash of the label, too."""
    return content_hash("page", pair_id, annotator, round_)


def check_answers(data: PairSet, answers: Iterable[Answer], where: Path) -> None:
    """BadAnswers where an answer is of a pair that the set does not hold."""
    known = {pair.pair_id for pair in data.pairs}
    for answer in answers:
        if answer.pair_id not in known:
            raise BadAnswers(
                f"{where} has an answer to pair {answer.pair_id}, which these pairs do not hold: name the answers that "
                "belong to them"
            )


def load_audit(folder: Path, answers: Path) -> tuple[PairSet, list[Answer]]:
    """Pairs and what was answered of them; BadAnswers where nothing was."""
    data, given = load_pairs(folder), read_answers(answers)
    if not given:
        raise BadAnswers(f"{answers} holds no answers yet: judge-r1 audit serve {folder} collects them")
    check_answers(data, given, answers)
    return data, given
