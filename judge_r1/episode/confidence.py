"""How sure a judge was: the probability of the token that decides, the `>` or `<` of its comparison.

Where the token that would have decided the other way is known, too, the two are set against each other:
p(chosen) / (p(A>B) + p(A<B)); else it is the probability of the sampled token alone. Both are under the temperature
that drew them.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from math import exp
from typing import Any

from judge_r1.core.records import Trajectory

_KEYED = re.compile(r'"comparison"\s*:\s*"\s*[AB]\s*([<>])\s*[AB]\s*"', re.IGNORECASE)
_BARE = re.compile(r"\b[AB]\s*([<>])\s*[AB]\b", re.IGNORECASE)
_TURNED = str.maketrans("<>", "><")


def sign_position(text: str) -> int | None:
    """Where the `<` or `>` of the comparison stands: that of the last JSON key `comparison`, or in a text without it
    the first comparison, as the parsers have it. None where there is none."""
    keyed = list(_KEYED.finditer(text))
    match = keyed[-1] if keyed else _BARE.search(text)
    return match.start(1) if match else None


def opposite(token: str) -> str:
    """The token that decides the other way."""
    return token.translate(_TURNED)


def opposite_tokens(vocabulary: Mapping[str, int]) -> dict[int, int]:
    """The id of each token with a `<` or `>` whose other way is one token, too, by id."""
    return {
        number: vocabulary[other]
        for token, number in vocabulary.items()
        if (other := opposite(token)) != token and other in vocabulary
    }


def confidence(chosen: float, alternative: float | None) -> float:
    """From the log-probabilities of the token sampled and, where it is known, of its rival."""
    return 1 / (1 + exp(min(alternative - chosen, 700.0))) if alternative is not None else min(1.0, exp(chosen))


def decision_position(trajectory: Trajectory, decode: Callable[[Sequence[int]], str]) -> int | None:
    """The place among `token_ids` of the id that decides: the one with which the sign of the answer comes to be. None
    where the episode ended without a judgment, or where the sign does not stand beyond doubt: what was thought before
    the answer may compare, too, and a sign that says otherwise than the judgment is not the one."""
    if trajectory.judgment is None or not trajectory.turns or not trajectory.token_ids:
        return None
    begin = len(trajectory.loss_mask)
    while begin and trajectory.loss_mask[begin - 1]:
        begin -= 1
    ids, text = trajectory.token_ids[begin:], trajectory.turns[-1].text
    answer = max(text.rfind("</think>"), text.rfind("<answer>"), 0)
    found = sign_position(text[answer:])
    if found is None or decode(ids)[: len(text)] != text:
        return None
    sign = answer + found
    a_is_better = (text[:sign].rstrip()[-1:].upper() == "A") == (text[sign] == ">")
    if a_is_better != (trajectory.judgment.comparison == "A>B"):
        return None
    count = bisect_left(range(len(ids) + 1), True, key=lambda n: len(decode(ids[:n]).rstrip("\ufffd")) > sign)
    return begin + count - 1


def token_confidence(
    trajectory: Trajectory, alternatives: Mapping[int, float], decode: Callable[[Sequence[int]], str]
) -> float | None:
    """Of an episode over tokens; `rivals` are the log-probabilities of deciding the other way, by place. None where
    nobody can say which token decided."""
    place = decision_position(trajectory, decode)
    return None if place is None else confidence(trajectory.logprobs[place], alternatives.get(place))


def chat_confidence(entries: Sequence[Mapping[str, Any]] | None) -> float | None:
    """From what a chat endpoint returns as `logprobs.content`: each token with its log-probability and perhaps the
    likeliest ones in its place."""
    entries = entries or ()
    if (place := sign_position("".join(entry["token"] for entry in entries))) is None:
        return None
    read = 0
    for entry in entries:
        read += len(entry["token"])
        if read > place:
            other = opposite(entry["token"])
            known = {top["token"]: float(top["logprob"]) for top in entry.get("top_logprobs") or ()}
            return confidence(float(entry["logprob"]), known.get(other))
    return None
