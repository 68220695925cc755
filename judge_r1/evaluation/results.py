"""One judged pair: what the gold says, what the judge said, and how the episode went."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import Field

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import (
    Comparison,
    InvalidVerdict,
    Judgment,
    NonEmpty,
    PairwiseVerdict,
    Preference,
    PrincipleNumber,
    ReasoningPair,
    Record,
    Trajectory,
    Verdict,
    evidence_of,
)
from judge_r1.episode.parsing import Rejected, parse_strict, parse_table6, parse_table6_tolerant, parse_tolerant
from judge_r1.episode.reward import evidence_hit, with_reward
from judge_r1.episode.segments import answer_of
from judge_r1.evaluation.traces import Results

Placed = tuple[int, ...]
VOTES = "votes"
"""How an outcome ended that several games decided."""


class BadTrajectory(JudgeError):
    """A trajectory that cannot be counted: not scored, scored as something else, or not of this pair."""


class Outcome(Record):
    """The row `judge` on one pair. `comparison` and `predicted` are None where the answer was invalid.

    `valid` is what the row's own parser said; `valid_strict` and `valid_tolerant` say it for both parsers, and are
    None where the judge wrote no text to parse. `evidence_hit`: did the episode show a passage that a flaw
    contradicts; None where no flaw of the pair contradicts a place of the context.
    """

    judge: NonEmpty
    pair_id: NonEmpty
    case_id: NonEmpty
    domain: NonEmpty
    kind: Literal["single", "multi"]
    violated: tuple[PrincipleNumber, ...] = Field(min_length=1)
    preferred: Preference
    comparison: Comparison | None
    predicted: tuple[PrincipleNumber, ...] | None
    valid: bool
    valid_strict: bool | None
    valid_tolerant: bool | None
    ended: NonEmpty
    searches: int = Field(ge=0)
    evidence_hit: bool | None
    reward: dict[str, float]

    @property
    def correct(self) -> bool:
        """c_pred = c_truth (Eq. 5); an invalid answer is wrong."""
        return self.comparison == ("A>B" if self.preferred == "A" else "A<B")


def pair_outcome(
    judge: str, pair: ReasoningPair, plays: Sequence[tuple[Placed, Trajectory]], verdict: Verdict
) -> Outcome:
    """What a row of any number of games did on `pair`; `verdict` is what they come to.

    One game as the pair is placed is its own outcome. Of several, the principles are those that at least half of the
    games name whose preference is the verdict's; a tie decides nothing and is no valid answer.
    """
    (order, only), several = plays[0], len(plays) > 1
    if not several and order == (0, 1) and only.turns:
        return outcome(judge, pair, only)
    return outcome(judge, pair, with_reward(_together(plays, verdict), pair))


def pair_outcomes(results: Results) -> list[Outcome]:
    """Of a row on labelled pairs, in the order of its items."""
    assert results.suite.pairs is not None
    pairs = results.suite.pairs.by_id()
    return [
        pair_outcome(
            results.row,
            pairs[settled.item_id],
            [(trace.order, trace.trajectory) for trace in results[settled.item_id]],
            settled.verdict,
        )
        for settled in results.outcomes()
    ]


def reward_as_shown(trajectory: Trajectory, pair: ReasoningPair, order: Placed) -> Trajectory:
    """The trajectory with its reward, from a game that showed the pair in that order."""
    if order == (0, 1):
        return with_reward(trajectory, pair)
    turned = with_reward(trajectory.model_copy(update={"judgment": _as_placed(trajectory.judgment, order)}), pair)
    return turned.model_copy(update={"judgment": trajectory.judgment})


def _together(plays: Sequence[tuple[Placed, Trajectory]], verdict: Verdict) -> Trajectory:
    """Several games as one: all their turns, and the judgment they come to."""
    judgments = [_as_placed(trajectory.judgment, order) for order, trajectory in plays]
    turns = tuple(turn for _, trajectory in plays for turn in trajectory.turns)
    ended, judgment = VOTES, None
    if isinstance(verdict, InvalidVerdict):
        ended = verdict.reason
    elif isinstance(verdict, PairwiseVerdict) and verdict.winner == "tie":
        ended = "tie"
    elif isinstance(verdict, PairwiseVerdict):
        comparison: Comparison = "A>B" if verdict.winner == "A" else "A<B"
        agreeing = [found for found in judgments if found is not None and found.comparison == comparison]
        named = Counter(number for found in agreeing for number in found.violated_principles)
        violated = tuple(sorted(number for number, count in named.items() if 2 * count >= len(agreeing)))
        judgment = Judgment.pairwise(comparison, violated, evidence=evidence_of(turns))
    return Trajectory.without_ids(ended, turns, judgment)


def _as_placed(judgment: Judgment | None, order: Placed) -> Judgment | None:
    """A judgment on the pair as it was shown, in terms of the pair as it is placed."""
    if judgment is None or order == (0, 1):
        return judgment
    return judgment.swapped()


def outcome(judge: str, pair: ReasoningPair, trajectory: Trajectory) -> Outcome:
    """What the row `judge` did on `pair`.

    The trajectory must carry its reward (`judge_r1.episode.reward`) and must have ended by the judge's own doing: a
    failure of
    the infrastructure is no outcome. Raises BadTrajectory, also for a passage of another case.
    """
    judgment, reward = trajectory.judgment, trajectory.reward
    where = f"the trajectory of row {judge!r} on pair {pair.pair_id}"
    if reward is None or "valid" not in reward:
        raise BadTrajectory(f"{where} has no reward: score it before it is evaluated")
    if bool(reward["valid"]) != (judgment is not None):
        raise BadTrajectory(
            f"{where} is scored valid={reward['valid']:g} but holds "
            f"{'no' if judgment is None else 'a'} judgment: score it again"
        )
    if trajectory.infrastructure_failed:
        raise BadTrajectory(f"{where} ended by {trajectory.ended}: it says nothing about the judge, run it again")
    _own_case_only(pair, trajectory)
    strict, tolerant = _both_parsers(trajectory)
    hit = evidence_hit(trajectory, pair)
    return Outcome(
        judge=judge,
        pair_id=pair.pair_id,
        case_id=pair.case_id,
        domain=pair.domain,
        kind=pair.kind,
        violated=pair.violated,
        preferred=pair.preferred,
        comparison=judgment.comparison if judgment else None,
        predicted=judgment.violated_principles if judgment else None,
        valid=judgment is not None,
        valid_strict=strict,
        valid_tolerant=tolerant,
        ended=trajectory.ended,
        searches=trajectory.searches,
        evidence_hit=None if hit is None else bool(hit),
        reward=reward,
    )


def _both_parsers(trajectory: Trajectory) -> tuple[bool | None, bool | None]:
    """Whether the strict and whether the tolerant parser accept the answer that the episode ended with; None for a
    judge that judges without writing."""
    if trajectory.judgment is not None and not trajectory.turns:
        return None, None
    if trajectory.ended == VOTES:
        return True, True
    if trajectory.ended != "answer" and not trajectory.ended.startswith("rejected_"):
        return False, False
    written = trajectory.turns[-1].text
    answer = answer_of(written)
    if answer is None:  # an answer without tags: the two lines of Table 6, or a chat model's bare JSON
        return _accepted(written, parse_strict, parse_table6), _accepted(written, parse_tolerant, parse_table6_tolerant)
    return _accepted(answer, parse_strict), _accepted(answer, parse_tolerant)


def _accepted(text: str, *parsers: Callable[[str], Judgment | Rejected]) -> bool:
    return any(not isinstance(parse(text), Rejected) for parse in parsers)


def _own_case_only(pair: ReasoningPair, trajectory: Trajectory) -> None:
    for passage in evidence_of(trajectory.turns):
        if passage.case_id != pair.case_id:
            raise BadTrajectory(
                f"an episode on pair {pair.pair_id} of case {pair.case_id} shows a passage of case "
                f"{passage.case_id}: its retriever is not isolated, so its results do not count"
            )
