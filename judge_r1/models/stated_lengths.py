"""Reads the numbers of tokens in a refusal for length, and finds the answer that fits beside the prompt.

The wordings are those of vLLM, SGLang, TGI, llama.cpp, OpenAI, Anthropic, Mistral, Gemini, xAI, Groq, DeepSeek,
DashScope and OpenRouter.
"""

import re
from collections.abc import Sequence

from judge_r1.core.endpoint import StatedLengths

LEAST_ANSWER = 256
"""Tokens below which an answer is not worth asking for: the prompt is too long."""
_NUMBER = r"(?P<number>\d[\d,]{0,12})"
_WINDOW = (
    r"n_ctx\W{1,6}", r"max_model_len=(max_total_tokens=)*", r"context limit: \d+ \+ \d+ > ", r"tokens > ",
    r"(context|prompt|model) (length|window|size|limit)[^\d.]{0,30}", r"number of tokens allowed \(",
    r"`max_new_tokens` must be <= ", r"must have less than ", r"cannot exceed ", r"too large for model with ",
)  # fmt: skip
_PROMPT = (
    r"n_prompt_tokens\W{1,6}", r"given: ", r"context limit: ", r"messages resulted in ", r"the request contains ",
    r"token count \(", r"prompt contains ", r"too long: ", r"(input|input length|request|prompt) \((length )?",
    r"received ",
)  # fmt: skip
_ANSWER = (
    r"at most (?=\d+ (completion|output) tokens)", r"range of max_tokens (is|should be) \[1, ?",
    r"max_tokens\W{1,3} must be less than or equal to \W?", r"max_tokens: \d+ > ",
)  # fmt: skip
"""What stands before a number."""
_AFTER_PROMPT = r" (tokens )?(in the messages|in the prompt|in your prompt|from the input|of text input|input tokens)"


def read_lengths(text: str) -> StatedLengths:
    """The numbers of tokens in the body of an error response."""
    return StatedLengths(
        window=_first(text, _WINDOW),
        prompt=_first(text, ["(?<![0-9,])"], _AFTER_PROMPT) or _first(text, _PROMPT),
        answer=_first(text, _ANSWER),
        at_least=bool(re.search("contains at least|characters", text)),
    )


def fitting_answer(stated: StatedLengths, asked: int) -> int | None:
    """The tokens of an answer to ask for after a refusal of `asked`; None if a shorter answer would not help.

    Where the server does not say how long the prompt is, it is the half of what was asked or of the window.
    """
    room = stated.answer
    if room is None and stated.window is not None:
        if stated.prompt is None or stated.at_least:
            room = min(asked, stated.window) // 2
        else:
            room = stated.window - stated.prompt - 1  # some servers keep a token
    return room if room is not None and LEAST_ANSWER <= room < asked else None


def _first(text: str, before: Sequence[str], after: str = "") -> int | None:
    """The number that stands behind the first text of `before` that occurs, and before `after`."""
    found = (re.search(one + _NUMBER + after, text, re.IGNORECASE) for one in before)
    return next((int(match["number"].replace(",", "")) for match in found if match), None)
