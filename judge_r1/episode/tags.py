"""The four tags of an episode: escapes them in inserted text, and finds them in text that is decoded id by id.

The policy writes `<think>`, `<search>` and `<answer>`; the environment writes `<information>`. In inserted text (cases,
reasonings, passages) the angle brackets of these tags are replaced by similar characters of the same length, so that
offsets do not change. Other angle brackets, such as "p < 0.05", stay.
"""

import re
from collections.abc import Callable, Sequence

NAMES = ("think", "search", "information", "answer")
TAG = re.compile(rf"(</?(?:{'|'.join(NAMES)})>)")
"""Matches one tag. `TAG.split` returns the tags too."""
STOP_STRINGS = ("</search>", "</answer>")
"""Generation stops at these strings. The token that completes one of them is part of the turn with its full text."""
_ESCAPED = re.compile(rf"‹(/?(?:{'|'.join(NAMES)}))›")
_OPENING = re.compile(r"<(think|search|answer)>")
_THINK = re.compile(r"<(think)>")
_LONGEST_OPENING = len("<answer>")


def escape_tags(text: str) -> str:
    """Replaces the angle brackets of the four tags, one character by one character."""
    return TAG.sub(lambda match: f"‹{match[1][1:-1]}›", text)


def unescape_tags(text: str) -> str:
    """The inverse of `escape_tags`, for every text without escaped tags."""
    return _ESCAPED.sub(r"<\1>", text)


class StreamDecoder:
    """Decodes one id at a time. A character that is split over several ids appears with its last id; all text before it
    appears at once, so a tag is found at the id that completes it."""

    def __init__(self, decode: Callable[[Sequence[int]], str]) -> None:
        self._decode = decode
        self._ids: list[int] = []
        self._context = self._done = 0  # ids[context:done] are decoded again because they affect the text after them
        self._emitted = 0  # characters of decode(ids[context:]) that were returned

    def push(self, token: int) -> str:
        self._ids.append(token)
        text = self._decode(self._ids[self._context :])
        whole = text.rstrip("�")
        new = whole[self._emitted :]
        self._emitted = max(self._emitted, len(whole))
        if new and whole == text:
            self._context, self._done = self._done, len(self._ids)
            self._emitted = len(self._decode(self._ids[self._context :]))
        return new

    def flush(self) -> str:
        """Returns the rest of the text: an incomplete character at the end."""
        return self._decode(self._ids[self._context :])[self._emitted :]


class TagScanner:
    """Finds the first complete action outside an open block. Tags inside an open block are text. Without `actions`,
    thoughts are the only blocks."""

    def __init__(self, *, actions: bool = True) -> None:
        self._opening = _OPENING if actions else _THINK
        self.text = ""
        self.open: str | None = None
        self._content = self._from = 0

    def push(self, new: str) -> tuple[str, str] | None:
        """Appends text. Returns (kind, content) of the search or answer that it completes."""
        self.text += new
        while True:
            if self.open is None:
                if not (match := self._opening.search(self.text, self._from)):
                    self._from = max(self._from, len(self.text) - _LONGEST_OPENING + 1)
                    return None
                self.open, self._content, self._from = match[1], match.end(), match.end()
            closing = f"</{self.open}>"
            end = self.text.find(closing, self._from)
            if end < 0:
                self._from = max(self._from, len(self.text) - len(closing) + 1)
                return None
            kind, content = self.open, self.text[self._content : end]
            self.open, self._from = None, end + len(closing)
            if kind != "think":
                return kind, content
