"""The token with which a judge decides: the `>` or `<` of its answer (paper, appendix G)."""

import re
from bisect import bisect_left

from judge_r1.records import Trajectory
from judge_r1.tokens import Codec

_KEY = re.compile(r'"comparison"\s*:\s*"\s*([AB])\s*([<>])\s*[AB]', re.IGNORECASE)
_LINE = re.compile(r"^\s*([AB])\s*([<>])\s*[AB]\b", re.IGNORECASE | re.MULTILINE)


def decision_place(trajectory: Trajectory, codec: Codec) -> int | None:
    """The place among `token_ids` of the id that holds the sign of the answer; None where the episode ended without a
    valid answer, or where the sign does not stand beyond doubt (as JSON, or as the first line of Table 6)."""
    if trajectory.judgment is None or not trajectory.turns or not trajectory.token_ids:
        return None
    begin = len(trajectory.loss_mask)
    while begin and trajectory.loss_mask[begin - 1]:
        begin -= 1
    ids, text = trajectory.token_ids[begin:], trajectory.turns[-1].text
    found = [*_KEY.finditer(text)][-1:] or [*_LINE.finditer(text)][:1]
    if not found or codec.decode(ids)[: len(text)] != text:
        return None
    a_is_better = (found[0][1].upper() == "A") == (found[0][2] == ">")
    if a_is_better != (trajectory.judgment.comparison == "A>B"):
        return None
    sign = found[0].start(2)
    count = bisect_left(range(len(ids) + 1), True, key=lambda n: len(codec.decode(ids[:n]).rstrip("\ufffd")) > sign)
    return begin + count - 1
