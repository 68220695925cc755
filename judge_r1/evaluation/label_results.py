"""Scores the predicted principles of an item whose violated principles are labelled (paper, section 3.2)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.items import LabelResult
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.core.verdicts import Comparison, InvalidVerdict, Judgment, ScoresVerdict, Verdict, preference
from judge_r1.episode.answer_text import answer_of
from judge_r1.episode.parsing import Rejected, parse_strict, parse_table6, parse_table6_tolerant, parse_tolerant
from judge_r1.episode.reward import evidence_hit, shown_passages, with_reward

AS_STORED = (0, 1)
"""The presentation order in which a pair is stored."""
VOTES = "votes"
"""The end reason of a trajectory that combines several votes."""


class BadTrajectory(JudgeError):
    """A trajectory that cannot be scored: without a reward, with another judgment's reward, or of another pair."""


def label_result(
    judge: str,
    pair: ReasoningPair,
    votes: Sequence[tuple[tuple[int, ...], Trajectory]],
    verdict: Verdict,
    *,
    isolated: bool = True,
) -> LabelResult:
    """The label scores of the votes on `pair`, each with its presentation order; `verdict` aggregates them.

    The predicted principles of several votes are those named by at least half of the votes that agree with the
    verdict. A tie predicts none and is not valid. `judge` is named in errors.

    Raises:
        BadTrajectory: A trajectory cannot be scored (`trajectory_labels`).
    """
    order, only = votes[0]
    # A single vote keeps its own reward and turns. A rule writes no turns, and its vote is scored as an aggregate.
    if len(votes) == 1 and order == AS_STORED and only.turns:
        return trajectory_labels(judge, pair, only, isolated=isolated)
    return trajectory_labels(judge, pair, with_reward(_combined(votes, verdict), pair), isolated=isolated)


def trajectory_labels(judge: str, pair: ReasoningPair, trajectory: Trajectory, *, isolated: bool = True) -> LabelResult:
    """The label scores of one trajectory on a pair in its stored order. `isolated` is False only for a baseline with
    one index over all cases (`searches_own_case`).

    Raises:
        BadTrajectory: The trajectory lacks the reward of its judgment, shows a passage of another case, or ended by an
        infrastructure failure.
    """
    judgment, reward = trajectory.judgment, trajectory.reward
    where = f"the trajectory of judge {judge!r} on pair {pair.pair_id}"
    if reward is None or "valid" not in reward:
        raise BadTrajectory(f"{where} has no reward: compute it first (judge_r1.episode.reward.with_reward)")
    if bool(reward["valid"]) != (judgment is not None):
        raise BadTrajectory(
            f"{where} has a reward with valid={reward['valid']:g} but {'no' if judgment is None else 'a'} judgment: "
            "compute the reward again"
        )
    if trajectory.infrastructure_failed:
        raise BadTrajectory(f"{where} ended by {trajectory.ended}, which says nothing about the judge: run it again")
    if isolated:
        _check_isolation(pair, trajectory)
    strict, tolerant = _accepted_by_parsers(trajectory)
    hit = evidence_hit(trajectory, pair)
    return LabelResult(
        kind=pair.kind,
        violated=pair.violated,
        predicted=judgment.violated_principles if judgment else None,
        valid_strict=strict,
        valid_tolerant=tolerant,
        evidence_hit=None if hit is None else bool(hit),
        reward=reward,
    )


def searches_own_case(settings: Mapping[str, Any]) -> bool:
    """Whether every judge of a panel searches the case of its pair alone, by the panel's settings."""
    return all(member.get("index") != "global" for member in settings.get("members", [settings]))


def reward_as_shown(trajectory: Trajectory, pair: ReasoningPair, order: tuple[int, ...]) -> Trajectory:
    """The trajectory of an episode that showed the pair in `order`, with its reward."""
    if order == AS_STORED:
        return with_reward(trajectory, pair)
    stored = with_reward(trajectory.model_copy(update={"judgment": _as_stored(trajectory.judgment, order)}), pair)
    return stored.model_copy(update={"judgment": trajectory.judgment})


def _combined(votes: Sequence[tuple[tuple[int, ...], Trajectory]], verdict: Verdict) -> Trajectory:
    """One trajectory with the turns of all votes and the aggregated judgment."""
    turns = tuple(turn for _, trajectory in votes for turn in trajectory.turns)
    if isinstance(verdict, InvalidVerdict):
        return Trajectory.without_ids(verdict.reason, turns)
    if (winner := preference(verdict)) not in ("A", "B"):
        return Trajectory.without_ids("tie", turns)
    comparison: Comparison = "A>B" if winner == "A" else "A<B"
    judgments = [_as_stored(trajectory.judgment, order) for order, trajectory in votes]
    agreeing = [judgment for judgment in judgments if judgment is not None and judgment.comparison == comparison]
    named = Counter(number for judgment in agreeing for number in judgment.violated_principles)
    violated = sorted(number for number, count in named.items() if 2 * count >= len(agreeing))
    evidence = dict.fromkeys(passage for judgment in agreeing for passage in judgment.evidence)
    judgment = Judgment.pairwise(comparison, violated, evidence=tuple(evidence))
    return Trajectory.without_ids(VOTES, turns, judgment)


def _as_stored(judgment: Judgment | None, order: tuple[int, ...]) -> Judgment | None:
    return judgment if judgment is None or order == AS_STORED else judgment.swapped()


def _accepted_by_parsers(trajectory: Trajectory) -> tuple[bool | None, bool | None]:
    """Whether the strict and the tolerant parser accept the final answer; None for a judge that writes no text."""
    if trajectory.judgment is not None and not trajectory.turns:
        return None, None
    if trajectory.ended == VOTES or (trajectory.judgment and isinstance(trajectory.judgment.verdict, ScoresVerdict)):
        return True, True  # a score has one form, which its parser has checked
    if trajectory.ended != "answer" and not trajectory.ended.startswith("rejected_"):
        return False, False
    answer, tagged = answer_of(trajectory.turns[-1].text)
    if tagged:
        return _accepts(answer, parse_strict), _accepts(answer, parse_tolerant)
    # the two lines of Table 6, or bare JSON from a chat model
    return _accepts(answer, parse_strict, parse_table6), _accepts(answer, parse_tolerant, parse_table6_tolerant)


def _accepts(text: str, *parsers: Callable[[str], Judgment | Rejected]) -> bool:
    return any(not isinstance(parse(text), Rejected) for parse in parsers)


def _check_isolation(pair: ReasoningPair, trajectory: Trajectory) -> None:
    for passage in shown_passages(trajectory):
        if passage.case_id != pair.case_id:
            raise BadTrajectory(
                f"an episode on pair {pair.pair_id} of case {pair.case_id} shows a passage of case "
                f"{passage.case_id}: its retriever is not isolated, so its results do not count"
            )
