"""What the error of a model server means, by the names in its body.

Servers name an error in different places: `error.code` and `error.type` (OpenAI, llama.cpp, DashScope), `innererror`
(Azure), `error.param` (vLLM), `error_type` (TGI), the top level (SGLang), a list with `status` and `details` (Gemini),
`error.metadata` or another body in a string (OpenRouter). Only where these names say nothing, the wording is read.

`stated_lengths` reads the numbers of tokens in a refusal for length, and finds the answer that fits beside the prompt.
Its wordings are those of vLLM, SGLang, TGI, llama.cpp, OpenAI, Anthropic, Mistral, Gemini, xAI, Groq, DeepSeek,
DashScope and OpenRouter.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from judge_r1.core.endpoint import NO_LENGTHS, StatedLengths

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


Meaning = Literal["context_overflow", "content_filter", "bad_key", "no_credit"]

_NAMES: dict[Meaning, tuple[str, ...]] = {
    "context_overflow": (
        "contextlengthexceeded", "exceedcontextsizeerror", "contextexceeded", "contextwindowexceeded",
        "stringabovemaxlength", "stringtoolong", "prompttoolong", "invalidrequestprompttoolong", "requesttoolarge",
        "payloadtoolarge", "paraminputtokens",
    ),
    "content_filter": (
        "contentfilter", "contentpolicyviolation", "responsibleaipolicyviolation", "datainspectionfailed",
        "flaggedinput", "moderationblocked", "safety", "prohibitedcontent", "blocklist", "spii", "recitation",
        "refusal",
    ),
    "bad_key": ("apikeyinvalid", "invalidapikey", "authenticationerror", "authentication"),
    "no_credit": ("insufficientquota", "arrearage", "billingerror", "paymentrequired"),
}  # fmt: skip
"""Names of errors, in lower case without `_` and the like."""
_NAMED = ("code", "type", "status", "reason", "error_type", "blockReason")
_BLOCKED = "promptFeedback"
"""Gemini's reply to a prompt that its filter blocks has this key, and no choices."""
_MARKS = ("flagged_input",)
"""Keys that name an error by being there."""
_INSIDE = ("message", "raw")
"""Strings in which a gateway passes on the body of another server."""
_WORDS: dict[Meaning, re.Pattern[str]] = {
    "no_credit": re.compile(r"credit balance is too low", re.IGNORECASE),
    "context_overflow": re.compile(
        r"context[ _](length|window|size)|maximum (context|input|prompt|model) "
        r"|(prompt|input|request) is too (long|large)|too many (input )?tokens|longer than the (maximum )?model"
        r"|max_model_len|input token count|input length|`inputs`.* (must|tokens)|reduce the length of",
        re.IGNORECASE,
    ),
    "content_filter": re.compile(
        r"content[ _]?(filter|management|policy)|ResponsibleAI|safety system|usage polic|inappropriate content"
        r"|content exists risk|considered high risk|敏感",
        re.IGNORECASE,
    ),
}
_READ = (400, 403, 413, 422, 500)
"""Statuses of errors whose wording is read: others are busy servers, wrong keys and wrong addresses."""
_MOST = 200
"""The number of values of a body that are looked at."""


class ErrorReply(NamedTuple):
    """`message` is the server's, with its code. `meaning` is None for an error that concerns neither the length nor the
    content of the request, nor the account. `lengths` are the numbers of tokens in the body."""

    status: int
    message: str
    meaning: Meaning | None
    lengths: StatedLengths = NO_LENGTHS


def read_error(status: int, text: str) -> ErrorReply:
    """The error in the body of a response with this status."""
    body: Any = None
    with suppress(ValueError, RecursionError):
        body = json.loads(text)
    message = _message(body) or text or "no reason given"
    if (meaning := named_meaning(body)) is None and status in _READ:
        meaning = next((name for name, words in _WORDS.items() if words.search(message)), None)
    meaning = meaning or ("context_overflow" if status == 413 else None)
    return ErrorReply(status, message, meaning, read_lengths(text))


def error_in(data: Any) -> ErrorReply | None:
    """The error in a response of status 200; None if it has none. A code from 400 on is its status, else 400. A blocked
    prompt is one, too."""
    found = data[0] if isinstance(data, list) and data else data
    if isinstance(found, dict) and not found.get("choices") and named_meaning(found.get(_BLOCKED)) == "content_filter":
        return ErrorReply(400, json.dumps({_BLOCKED: found[_BLOCKED]}), "content_filter")
    if isinstance(found, dict) and not found.get("error") and isinstance(found.get("choices"), list):
        found = next(iter(found["choices"]), None)  # OpenRouter: the provider failed while it wrote
    error = found.get("error") if isinstance(found, dict) else None
    if not error:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    return read_error(code if isinstance(code, int) and 400 <= code < 600 else 400, json.dumps({"error": error}))


def named_meaning(body: Any) -> Meaning | None:
    """The meaning of the names in a body."""
    names = {"".join(filter(str.isalnum, name)).casefold() for name in _names(body)}
    return next((meaning for meaning, known in _NAMES.items() if names.intersection(known)), None)


def _names(body: Any) -> Iterator[str]:
    waiting, left = [body], _MOST
    while waiting and (left := left - 1):
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value[:_MOST]
        elif isinstance(value, dict):
            for key, inner in list(value.items())[:_MOST]:
                if key in _INSIDE and isinstance(inner, str) and inner.lstrip()[:1] in ("{", "["):
                    with suppress(ValueError, RecursionError):
                        waiting.append(json.loads(inner))
                elif isinstance(inner, dict | list):
                    waiting.append(inner)
                elif key == "param":
                    yield f"param {inner}"
                elif key in _NAMED and isinstance(inner, str):
                    yield inner
            yield from (key for key in _MARKS if key in value)


def _message(body: Any) -> str | None:
    """The server's message with its code."""
    found = body[0] if isinstance(body, list) and body else body
    if not isinstance(found, dict):
        return None
    error = found.get("error") or found
    if not isinstance(error, dict):
        return str(error)
    message, code = error.get("message") or error.get("detail"), error.get("code") or error.get("type")
    return None if not message else f"{message} [{code}]" if isinstance(code, str) else str(message)
