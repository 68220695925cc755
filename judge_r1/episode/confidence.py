"""Confidence of a judgment: the probability of the deciding token, the `>` or `<` of its comparison.

If the probability of the opposite token is known, the confidence is p(chosen) / (p(A>B) + p(A<B)). Otherwise it is the
probability of the sampled token. Both are under the sampling temperature.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from math import exp
from typing import Any

from judge_r1.core.records import Trajectory
from judge_r1.episode.answer_text import answer_span
from judge_r1.episode.stated_verdict import stated_in_words, stated_verdict

_KEYED = re.compile(r'"comparison"\s*:\s*"\s*[AB]\s*([<>])\s*[AB]\s*"', re.IGNORECASE)
_OPPOSITE = str.maketrans("<>", "><")


def sign_position(text: str) -> int | None:
    """Index of the `<` or `>` of the comparison that the tolerant parsers read, or None: in the JSON object with the
    verdict, behind the last JSON key `comparison` of a broken one, or in a text of words."""
    if (stated := stated_verdict(text)) is None:
        if keyed := list(_KEYED.finditer(text)):
            return keyed[-1].start(1)
        stated = stated_in_words(text)
    return stated.sign if stated is not None and stated.comparison is not None else None


def opposite(token: str) -> str:
    """The token of the opposite decision."""
    return token.translate(_OPPOSITE)


def opposite_tokens(vocabulary: Mapping[str, int]) -> dict[int, int]:
    """Maps the id of each token with `<` or `>` to the id of the opposite token, if the vocabulary has it."""
    return {
        number: vocabulary[other]
        for token, number in vocabulary.items()
        if (other := opposite(token)) != token and other in vocabulary
    }


def confidence(chosen: float, alternative: float | None) -> float:
    """The confidence from the log-probabilities of the sampled token and, if it is known, of the opposite token."""
    # exp overflows above 709.
    return 1 / (1 + exp(min(alternative - chosen, 700.0))) if alternative is not None else min(1.0, exp(chosen))


def decision_position(trajectory: Trajectory, decode: Callable[[Sequence[int]], str]) -> int | None:
    """Index in `token_ids` of the deciding token: the one that completes the sign of the answer's comparison.

    None if the episode has no judgment, or if the sign that was found contradicts the judgment (for example because it
    belongs to another comparison in the text).
    """
    if trajectory.judgment is None or not trajectory.turns or not trajectory.token_ids:
        return None
    # The last turn: the sampled ids behind the last observation.
    begin = len(trajectory.loss_mask)
    while begin and trajectory.loss_mask[begin - 1]:
        begin -= 1
    ids, text = trajectory.token_ids[begin:], trajectory.turns[-1].text
    # Drafts in thoughts, and comparisons before the answer, decide nothing.
    start, end = answer_span(text)
    answer = max(start, text.rfind("<answer>", 0, end))
    found = sign_position(text[answer:end])
    if found is None or decode(ids)[: len(text)] != text:
        return None
    sign = answer + found
    a_is_better = (text[:sign].rstrip()[-1:].upper() == "A") == (text[sign] == ">")
    if a_is_better != (trajectory.judgment.comparison == "A>B"):
        return None
    # Bisected: decoding every prefix takes quadratic time. One that ends inside a character ends in U+FFFD.
    count = bisect_left(range(len(ids) + 1), True, key=lambda n: len(decode(ids[:n]).rstrip("\ufffd")) > sign)
    return begin + count - 1


def token_confidence(
    trajectory: Trajectory, alternatives: Mapping[int, float], decode: Callable[[Sequence[int]], str]
) -> float | None:
    """The confidence of an episode with token ids, or None if the deciding token cannot be found.

    `alternatives` maps a position to the log-probability of the opposite token there.
    """
    position = decision_position(trajectory, decode)
    return None if position is None else confidence(trajectory.logprobs[position], alternatives.get(position))


def chat_confidence(entries: Sequence[Mapping[str, Any]] | None) -> float | None:
    """The confidence from the `logprobs.content` of a chat endpoint: each token with its log-probability and, if the
    server returns them, the most likely tokens at its position."""
    entries = entries or ()
    text = "".join(entry["token"] for entry in entries)
    start, end = answer_span(text)
    if (found := sign_position(text[start:end])) is None:
        return None
    position = start + found
    length = 0
    for entry in entries:
        length += len(entry["token"])
        if length > position:
            logprobs = {top["token"]: float(top["logprob"]) for top in entry.get("top_logprobs") or ()}
            return confidence(float(entry["logprob"]), logprobs.get(opposite(entry["token"])))
    return None
