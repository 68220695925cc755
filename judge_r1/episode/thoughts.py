"""Separates the thoughts of a reply from its answer, which alone may be parsed.

The answer is what follows the last `</think>`. Its opening tag may be missing, because a chat template can write it.
"""

import re

_TAG = re.compile("</?think>")
_CLOSING = "</think>"


def answer_offset(text: str) -> int:
    """The index at which the answer starts."""
    return end + len(_CLOSING) if (end := text.rfind(_CLOSING)) >= 0 else 0


def without_thoughts(text: str) -> str:
    """The answer of a reply, also without a last thought that is not closed."""
    return text[answer_offset(text) :].partition("<think>")[0]


def thought_is_open(text: str) -> bool:
    """Whether the reply ends inside a thought."""
    return "<think>" in text[answer_offset(text) :]


def split_hidden_thought(text: str) -> tuple[str, str]:
    """Splits a reply with action tags into the thought that the chat template has opened and the rest.

    This thought ends at the last `</think>` that closes no `<think>`. Actions in it are drafts.
    """
    end, is_open = 0, False
    for tag in _TAG.finditer(text):
        if tag[0] == _CLOSING and not is_open:
            end = tag.end()
        is_open = tag[0] != _CLOSING
    return text[:end].removesuffix(_CLOSING), text[end:]
