"""The token with which a judge decides: the `>` or `<` of its answer (paper, appendix G)."""

from bisect import bisect_left

from judge_r1.decision import place_of_decision
from judge_r1.records import Trajectory
from judge_r1.tokens import Codec


def decision_place(trajectory: Trajectory, codec: Codec) -> int | None:
    """The place among `token_ids` of the id that holds the sign of the answer; None where the episode ended without a
    valid answer, or where the sign does not stand beyond doubt."""
    if trajectory.judgment is None or not trajectory.turns or not trajectory.token_ids:
        return None
    begin = len(trajectory.loss_mask)
    while begin and trajectory.loss_mask[begin - 1]:
        begin -= 1
    ids, text = trajectory.token_ids[begin:], trajectory.turns[-1].text
    answer = max(text.rfind("</think>"), text.rfind("<answer>"), 0)
    found = place_of_decision(text[answer:])
    if found is None or codec.decode(ids)[: len(text)] != text:
        return None
    sign = answer + found
    a_is_better = (text[:sign].rstrip()[-1:].upper() == "A") == (text[sign] == ">")
    if a_is_better != (trajectory.judgment.comparison == "A>B"):
        return None
    count = bisect_left(range(len(ids) + 1), True, key=lambda n: len(codec.decode(ids[:n]).rstrip("\ufffd")) > sign)
    return begin + count - 1
