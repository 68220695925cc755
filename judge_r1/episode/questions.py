"""What one episode of training is asked: a pair, one of its reasonings alone, or a list of reasonings of one case.

All three come from the same pairs. A row of training names a question by its key: `PAIR`, `PAIR:reference` and
`PAIR:flawed`, or `PAIR+PAIR+…` with the pairs of one list.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.core.verdicts import Judgment, ScoresVerdict
from judge_r1.episode.parsing import SCORES
from judge_r1.episode.reward import combine, evidence_hit, f1, precision, recall, with_reward
from judge_r1.episode.task import PairwiseTask, documents_of, pairwise_task
from judge_r1.files.pair_set import PairSet

TaskName = Literal["pairwise", "pointwise", "listwise"]
Side = Literal["reference", "flawed"]
SIDES: tuple[Side, Side] = ("reference", "flawed")


@dataclass(frozen=True)
class ScoreQuestion:
    """One reasoning of a pair, to score alone."""

    pair: ReasoningPair
    side: Side

    @property
    def pair_id(self) -> str:
        """The key of the question."""
        return f"{self.pair.pair_id}:{self.side}"

    @property
    def case_id(self) -> str:
        return self.pair.case_id

    @property
    def text(self) -> str:
        return self.pair.reference if self.side == "reference" else self.pair.flawed

    @property
    def gold(self) -> Judgment:
        """The highest score of the reference, and the lowest of the flawed reasoning with its principles."""
        score, named = (SCORES[-1], ()) if self.side == "reference" else (SCORES[0], self.pair.violated)
        return Judgment(verdict=ScoresVerdict(scores=(float(score),)), violated_principles=named)


@dataclass(frozen=True)
class ListQuestion:
    """The reference of a case (number 0) and the flawed reasoning of each pair (from 1), shown in `order`."""

    pairs: tuple[ReasoningPair, ...]
    order: tuple[int, ...]

    @property
    def pair_id(self) -> str:
        """The key of the question."""
        return "+".join(pair.pair_id for pair in self.pairs)

    @property
    def pair(self) -> ReasoningPair:
        """The pair that stands for the list: the first."""
        return self.pairs[0]

    @property
    def case_id(self) -> str:
        return self.pair.case_id

    @property
    def gold(self) -> Judgment:
        """The reference is the best."""
        return Judgment(verdict=ScoresVerdict(scores=tuple(float(number == 0) for number in self.order)))

    @property
    def shown(self) -> tuple[str, ...]:
        texts = (self.pair.reference, *(pair.flawed for pair in self.pairs))
        return tuple(texts[number] for number in self.order)


Question = ReasoningPair | ScoreQuestion | ListQuestion


def first_pair(key: str) -> str:
    """The id of the pair, or of the first pair, that a key names."""
    return key.partition("+")[0].partition(":")[0]


def pair_of(question: Question) -> ReasoningPair:
    """The pair of a question, or the first one of a list."""
    return question if isinstance(question, ReasoningPair) else question.pair


def task_of(question: Question, data: PairSet) -> PairwiseTask:
    """The task of an episode."""
    case = data.cases[question.case_id]
    if isinstance(question, ReasoningPair):
        return pairwise_task(question, case)
    first, second, *more = (question.text, "") if isinstance(question, ScoreQuestion) else question.shown
    return PairwiseTask(
        question.pair.domain, case.decision, first, second, case.case_id, case.context, documents=documents_of(case),
        form="score" if isinstance(question, ScoreQuestion) else "list", more=tuple(more),
    )  # fmt: skip


def question_keys(data: PairSet, task: TaskName) -> list[str]:
    """The keys of all questions of a task, in the order of the data; of a pair its reference comes first.

    Raises:
        JudgeError: No case has two flawed reasonings, which a list needs.
    """
    if task == "pairwise":
        return list(data.ids)
    if task == "pointwise":
        return [f"{pair_id}:{side}" for pair_id in data.ids for side in SIDES]
    lists = defaultdict[str, list[ReasoningPair]](list)
    for pair in data.pairs:
        # Two flawed texts of a case may be the same with other labels: a list shows each text once.
        if all(pair.flawed != other.flawed for other in lists[pair.case_id]):
            lists[pair.case_id].append(pair)
    found = ["+".join(pair.pair_id for pair in pairs) for pairs in lists.values() if len(pairs) > 1]
    if not found:
        raise JudgeError(
            "a list needs a reference and two flawed reasonings or more, and no case has two: build more variants of "
            "each case (judge-r1 build --variants), or compare pairs (grpo.task: pairwise)"
        )
    return found


def question(
    key: str, by_id: Mapping[str, ReasoningPair], session: int = 0, size: int = 1, *, orders: int = 1, seed: int = 0
) -> Question:
    """The question of episode number `session` of a group of `size`.

    With two orders the second half of a group sees a pair swapped, and each episode of a list sees it rotated by one
    place more. The first order of a list is that of hash(list, seed). Raises: KeyError for an unknown pair.
    """
    if "+" in key:
        pairs = tuple(by_id[one] for one in key.split("+"))
        drawn = sorted(range(len(pairs) + 1), key=lambda number: content_hash("list", key, seed, number))
        turn = session % len(drawn) if orders == 2 else 0
        return ListQuestion(pairs, (*drawn[turn:], *drawn[:turn]))
    pair, side = by_id[first_pair(key)], key.partition(":")[2]
    if side:
        return ScoreQuestion(pair, "reference" if side == "reference" else "flawed")
    if orders == 2 and 2 * session >= size:
        return pair.placed("B" if pair.preferred == "A" else "A")
    return pair


def placement(question: Question) -> Hashable:
    """What tells two prompts of one key apart."""
    if isinstance(question, ReasoningPair):
        return question.preferred
    return question.order if isinstance(question, ListQuestion) else None


def shown_order(question: Question, by_id: Mapping[str, ReasoningPair]) -> list[int] | None:
    """The order in which a pair or a list is shown, if it is not that of the data."""
    if isinstance(question, ListQuestion):
        return list(question.order)
    swapped = isinstance(question, ReasoningPair) and question.preferred != by_id[question.pair_id].preferred
    return [1, 0] if swapped else None


def rewarded(trajectory: Trajectory, question: Question) -> Trajectory:
    """The trajectory with its reward; that of a `ScoreQuestion` as it is, since `score_rewards` needs both sides."""
    if isinstance(question, ReasoningPair):
        return with_reward(trajectory, question)
    if isinstance(question, ScoreQuestion):
        return trajectory
    judgment = trajectory.judgment
    right = judgment is not None and _best(judgment) == question.order.index(0)
    # A list names no principles: R2 follows R1, so that r is 1 or 0.
    parts = {"r": float(right), "R1": 2.0 if right else -2.0, "R2": 1.0 if right else -1.0}
    return _with(trajectory, question.pair, parts | {"valid": float(judgment is not None)})


def score_rewards(
    pair: ReasoningPair,
    reference: Sequence[Trajectory],
    flawed: Sequence[Trajectory],
    *,
    pairs: Literal["matched", "all"],
) -> tuple[list[Trajectory], list[Trajectory]]:
    """The trajectories of both groups of a pair with their rewards, r = (R1 + R2 + 3) / 6.

    R1 = 4 c - 2, where c is 1 if the reference scores above the flawed reasoning (TIR-Judge, arXiv 2510.23038, Eq. 3):
    in the session of the same number (`matched`), or as the mean over all episodes of the other group. A tie is wrong,
    else constant scores would pay. R2 = 2 (F1 - 0.5) as for pairs; of the reference, whose set of principles is empty,
    F1 is 1 if none is named, else 0. An answer without a score wins nothing, and no episode wins against it. An
    episode whose partners all failed has no reward and ends as an infrastructure failure, too.
    """

    def wins(own: Trajectory, others: Sequence[Trajectory], *, above: bool) -> float | None:
        known = [other for other in others if not other.infrastructure_failed]
        if not known:
            return None
        won = [_above(own, other) if above else _above(other, own) for other in known]
        return sum(won) / len(won)

    def side(own: Sequence[Trajectory], others: Sequence[Trajectory], gold: Collection[int]) -> list[Trajectory]:
        found = []
        for number, trajectory in enumerate(own):
            partners = others if pairs == "all" else others[number : number + 1]
            won = wins(trajectory, partners, above=not gold)
            if won is None and not trajectory.infrastructure_failed:
                trajectory = trajectory.model_copy(update={"ended": PARTNER_FAILED})
            judgment = None if trajectory.infrastructure_failed else trajectory.judgment
            found.append(_with(trajectory, pair, _score_parts(judgment, gold, won or 0.0)))
        return found

    return side(reference, flawed, ()), side(flawed, reference, pair.violated)


def with_score_rewards(
    episodes: Sequence[tuple[Question, Trajectory]], size: int, pairs: Literal["matched", "all"] = "matched"
) -> list[tuple[Question, Trajectory]]:
    """The episodes with the rewards of `score_rewards`, where each `size` of them score the reference of a pair and
    the next `size` its flawed reasoning; episodes of other questions as they are.

    Raises:
        RuntimeError: The two groups of a pair do not follow each other.
    """
    found = list(episodes)
    if not found or not isinstance(found[0][0], ScoreQuestion):
        return found
    for start in range(0, len(found), 2 * size):
        asked, given = zip(*found[start : start + 2 * size], strict=True)
        pair = pair_of(asked[0])
        if list(asked) != [ScoreQuestion(pair, side) for side in SIDES for _ in range(size)]:
            raise RuntimeError(f"the groups at {start} are not the two reasonings of one pair: {asked[0].pair_id}")
        first, second = score_rewards(pair, given[:size], given[size:], pairs=pairs)
        found[start : start + 2 * size] = zip(asked, [*first, *second], strict=True)
    return found


CLEAN_CALLS = 3
"""The most calls that are clean."""


def with_tool_credit(trajectory: Trajectory) -> Trajectory:
    """The trajectory with r (0.1 + 0.9 [clean]) for r (TIR-Judge, Eq. 3): clean if it has at most `CLEAN_CALLS` calls,
    and none failed. R1 and R2 stay."""
    failed = [
        bool(turn.notice) or (turn.call is not None and turn.call.status != "ok")
        for turn in trajectory.turns
        if turn.query is not None or turn.call is not None
    ]
    clean = len(failed) <= CLEAN_CALLS and not any(failed)
    if (parts := trajectory.reward) is None:
        return trajectory
    more = {"r": parts["r"] * (0.1 + 0.9 * clean), "clean_calls": float(clean)}
    return trajectory.model_copy(update={"reward": parts | more})


PARTNER_FAILED = "infrastructure_partner_failed"
"""How an episode ends whose reward needs an episode that an infrastructure failure ended."""


def _score_parts(judgment: Judgment | None, gold: Collection[int], won: float) -> dict[str, float]:
    parts = {
        "reference": float(not gold),
        "F1": 0.0,
        "precision": 0.0,
        "recall": 0.0,
        "valid": float(judgment is not None),
    }
    if judgment is None:
        return {"r": 0.0, "R1": -2.0, "R2": -1.0, **parts}
    named = judgment.violated_principles
    if gold:
        parts |= {"F1": f1(named, gold), "precision": precision(named, gold), "recall": recall(named, gold)}
    else:
        parts |= dict.fromkeys(("F1", "precision", "recall"), float(not named))
    r1, r2 = 4 * won - 2, 2 * (parts["F1"] - 0.5)
    return {"r": combine(r1, r2), "R1": r1, "R2": r2, **parts}


def _with(trajectory: Trajectory, pair: ReasoningPair, parts: dict[str, float]) -> Trajectory:
    parts = parts | {"searches": float(trajectory.searches)}
    if (hit := evidence_hit(trajectory, pair)) is not None:
        parts["evidence_hit"] = hit
    return trajectory.model_copy(update={"reward": parts})


def stated_score(judgment: Judgment | None) -> float | None:
    """The score of one candidate; None without one."""
    verdict = None if judgment is None else judgment.verdict
    return verdict.scores[0] if isinstance(verdict, ScoresVerdict) and len(verdict.scores) == 1 else None


def _above(better: Trajectory, worse: Trajectory) -> float:
    first, second = stated_score(better.judgment), stated_score(worse.judgment)
    return float(first is not None and second is not None and first > second)


def _best(judgment: Judgment) -> int | None:
    verdict = judgment.verdict
    return verdict.scores.index(max(verdict.scores)) if isinstance(verdict, ScoresVerdict) else None
