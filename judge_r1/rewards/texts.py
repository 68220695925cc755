"""Prompts and completions of trainers as texts."""

import re
from collections.abc import Sequence
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.episode.answer_text import TURN_END

Content = str | Sequence[dict[str, Any]]
"""A text, or chat messages."""
_ROLE = "(?:system|developer|user|assistant|model|tool|observation|ipython)"
_HEADER = re.compile(
    rf"<\|im_start\|>{_ROLE}[^\n<]{{0,40}}\n|<start_of_turn>{_ROLE}\n|<\|turn>{_ROLE}\n"
    rf"|<\|start_header_id\|>{_ROLE}<\|end_header_id\|>|<\|{_ROLE}\|>|<\|?｜(?:User|Assistant)｜>"
    rf"|<\|start\|>{_ROLE}[^\n<]{{0,80}}(?:<\|channel\|>\w+)?<\|message\|>"
    r"|<\|START_OF_TURN_TOKEN\|><\|(?:USER|CHATBOT|SYSTEM)_TOKEN\|>"
)
"""Where a turn begins."""
_INST = re.compile(r"\[/?INST\]|\[/?SYSTEM_PROMPT\]|<<SYS>>|<</SYS>>")
"""Where a turn begins in a text that begins so: elsewhere a text may speak of it."""
_BEGIN = re.compile(
    r"<s>|<bos>|<\|begin_of_text\|>|<\|startoftext\|>|<｜begin▁of▁sentence｜>|<BOS_TOKEN>|\[gMASK\]<sop>"
)
_END = re.compile(rf"{TURN_END}\Z")
_LONGEST = 40
"""Characters of a mark."""
_TAIL = 60
"""Characters at the end of a prompt that are in a query whose prompt was cut."""


def text_of(content: Content) -> str:
    """A prompt or completion as one text. Parts of a message that are not text, such as images, are left out."""
    if isinstance(content, str):
        return content
    return "\n".join(_message_text(message.get("content")) for message in content)


def without_markup(content: Content) -> str:
    """`text_of` without what a chat template writes around the turns: the texts of the turns, one after the other."""
    text = text_of(content)
    if not isinstance(content, str):
        return text
    begin = _INST if _INST.match(_after_begin(text).lstrip()) else _HEADER
    turns = [_turn(piece) for piece in begin.split(text)]
    return turns[0] if len(turns) == 1 else "\n".join(filter(None, map(str.strip, turns)))


def _turn(text: str) -> str:
    text = _after_begin(text)
    end = len(text)
    while mark := _END.search(text[(start := max(0, end - _LONGEST)) : end].rstrip()):
        end = start + mark.start()
    return text if end == len(text) else text[:end].rstrip()


def _after_begin(text: str) -> str:
    mark = _BEGIN.match(text)
    return text[mark.end() :] if mark else text


def response_of(query: str, prompt: str) -> str:
    """The response in a query of OpenRLHF, which is a prompt with its response. OpenRLHF cuts the beginning of a prompt
    that is too long. Raises: JudgeError if a query holds something else before the response."""
    if query.startswith(prompt):
        return query[len(prompt) :]
    end = query.find(prompt[-_TAIL:]) + _TAIL
    if end < _TAIL or not prompt.endswith(query[:end]):
        raise JudgeError(f"a query does not begin with its prompt: {query[:_TAIL]!r} is not in {prompt[:_TAIL]!r}…")
    return query[end:]


def _message_text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")
