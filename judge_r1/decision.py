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

from judge_r1.episode import Episode, Finished

_KEYED = re.compile(r'"comparison"\s*:\s*"\s*[AB]\s*([<>])\s*[AB]\s*"', re.IGNORECASE)
_BARE = re.compile(r"\b[AB]\s*([<>])\s*[AB]\b", re.IGNORECASE)
_TURNED = str.maketrans("<>", "><")


def place_of_decision(text: str) -> int | None:
    """Where the `<` or `>` of the comparison stands: that of the last JSON key `comparison`, or in a text without it
    the first comparison, as the parsers have it. None where there is none."""
    keyed = list(_KEYED.finditer(text))
    match = keyed[-1] if keyed else _BARE.search(text)
    return match.start(1) if match else None


def turned(token: str) -> str:
    """The token that decides the other way."""
    return token.translate(_TURNED)


def flips(vocabulary: Mapping[str, int]) -> dict[int, int]:
    """The id of each token with a `<` or `>` whose other way is one token, too, by id."""
    return {
        number: vocabulary[other]
        for token, number in vocabulary.items()
        if (other := turned(token)) != token and other in vocabulary
    }


def confidence(chosen: float, rival: float | None) -> float:
    """From the log-probabilities of the token sampled and, where it is known, of its rival."""
    return 1 / (1 + exp(min(rival - chosen, 700.0))) if rival is not None else min(1.0, exp(chosen))


def episode_confidence(episode: Episode, decode: Callable[[Sequence[int]], str]) -> float | None:
    """Of an episode that ended with a judgment; None for any other, or where no token of it shows the comparison."""
    if not isinstance(episode.state, Finished) or episode.state.judgment is None:
        return None
    mask = episode.loss_mask
    start = len(mask) - next((n for n, sampled in enumerate(reversed(mask)) if not sampled), len(mask))
    ids = episode.token_ids[start:]
    if (place := place_of_decision(decode(ids))) is None:
        return None
    at = start + bisect_left(range(len(ids)), place + 1, key=lambda n: len(decode(ids[: n + 1])))
    return confidence(episode.logprobs[at], episode.rivals.get(at))


def chat_confidence(entries: Sequence[Mapping[str, Any]] | None) -> float | None:
    """From what a chat endpoint returns as `logprobs.content`: each token with its log-probability and perhaps the
    likeliest ones in its place."""
    entries = entries or ()
    if (place := place_of_decision("".join(entry["token"] for entry in entries))) is None:
        return None
    read = 0
    for entry in entries:
        read += len(entry["token"])
        if read > place:
            other = turned(entry["token"])
            known = {top["token"]: float(top["logprob"]) for top in entry.get("top_logprobs") or ()}
            return confidence(float(entry["logprob"]), known.get(other))
    return None
