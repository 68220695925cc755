"""The tags of an episode: escapes them in inserted text, finds them in text that is decoded id by id, and splits a turn
into its blocks.

The policy writes `<think>`, `<search>` and `<answer>`, and `<tool>` if the episode has tools; the environment writes
`<information>`. Without tools, `<tool>` is plain text (`GRAMMAR`), which a case in XML may hold. In inserted text
(cases, reasonings, passages) the angle brackets of these tags are replaced by similar characters of the same length, so
that offsets do not change. Other angle brackets, such as "p < 0.05", stay. A tag that has the similar characters
already gets the next ones, so that every text can be restored.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

NAMES = ("think", "search", "information", "answer")
TOOL = "tool"
_BRACKETS = ("<>", "‹›", "⟨⟩", "⟪⟫", "\ufdd0\ufdd1")
"""A tag with one pair of brackets is escaped with the next pair. The last pair has no next one: a text of fixed length
cannot hold more. It is of noncharacters, which Unicode keeps out of texts that programs exchange."""


_NEXT = str.maketrans("".join(_BRACKETS[:-1]), "".join(_BRACKETS[1:]))
_BEFORE = str.maketrans("".join(_BRACKETS[1:]), "".join(_BRACKETS[:-1]))
_THINK = re.compile(r"<(think)>")
_LONGEST_OPENING = len("<answer>")
_INCOMPLETE = "�"
"""Stands for bytes that are no whole character (yet)."""


class Grammar:
    """The tags of an episode with tools or without.

    Attributes:
        tag: Matches one tag. `tag.split` returns the tags too.
        opening: Matches the opening tag of a block that the policy writes.
        stop_strings: Generation stops at these strings. The token that completes one of them is part of the turn with
            its full text.
    """

    def __init__(self, *, tools: bool) -> None:
        names = (*NAMES, TOOL) if tools else NAMES
        self.tag = re.compile(rf"(</?(?:{'|'.join(names)})>)")
        self.opening = re.compile(rf"<({'|'.join(name for name in names if name != 'information')})>")
        self.stop_strings = ("</search>", "</answer>", *(("</tool>",) if tools else ()))
        self._escapable, self._escaped = _tags(names, _BRACKETS[:-1]), _tags(names, _BRACKETS[1:])

    def escape(self, text: str) -> str:
        """Replaces the brackets of the tags, one character by one character."""
        return self._escapable.sub(lambda match: match[0].translate(_NEXT), text)

    def unescape(self, text: str) -> str:
        """The inverse of `escape`, for every text without noncharacters."""
        return self._escaped.sub(lambda match: match[0].translate(_BEFORE), text)


def _tags(names: tuple[str, ...], brackets: tuple[str, ...]) -> re.Pattern[str]:
    """Matches a tag with any of these pairs of brackets, which must belong together."""
    return re.compile("|".join(rf"{pair[0]}/?(?:{'|'.join(names)}){pair[1]}" for pair in brackets))


@lru_cache
def grammar(tools: bool) -> Grammar:
    """The grammar of an episode with tools or without."""
    return Grammar(tools=tools)


GRAMMAR = grammar(tools=False)
"""The grammar of an episode without tools."""
TAG, STOP_STRINGS = GRAMMAR.tag, GRAMMAR.stop_strings
escape_tags, unescape_tags = GRAMMAR.escape, GRAMMAR.unescape


class StreamDecoder:
    """Decodes one id at a time. A character that is split over several ids appears with its last id; all text before it
    appears at once, so a tag is found at the id that completes it.

    Args:
        decode: The text of ids, with U+FFFD for an incomplete character.
        bytewise: Whether each id stands for fixed bytes and the text is that of all bytes. Then a whole character needs
            no context: most ids are decoded alone, which a tokenizer looks up. Without it the previous ids are decoded
            again, because they may change the text after them (a decoder of words places the spaces).
    """

    def __init__(self, decode: Callable[[Sequence[int]], str], *, bytewise: bool = False) -> None:
        self._decode, self._bytewise = decode, bytewise
        self._ids: list[int] = []  # context, and the ids whose text is incomplete
        self._context = 0  # number of ids at the start of `_ids` whose text was returned
        self._emitted = 0  # characters of decode(_ids) that were returned

    def push(self, token: int) -> str:
        self._ids.append(token)
        text = self._decode(self._ids)
        # A sampled U+FFFD looks like an incomplete character. It is only returned later: with the next one or by flush.
        if text.endswith(_INCOMPLETE):
            whole = text.rstrip(_INCOMPLETE)
            new = whole[self._emitted :]
            self._emitted = max(self._emitted, len(whole))
            return new
        new = text[self._emitted :]
        if self._bytewise:
            self._ids, self._emitted = [], 0
        elif new:
            self._ids = self._ids[self._context :]
            self._context, self._emitted = len(self._ids), len(self._decode(self._ids))
        return new

    def flush(self) -> str:
        """Returns the rest of the text: an incomplete character at the end."""
        return self._decode(self._ids)[self._emitted :]


class TagScanner:
    """Finds the first complete action outside an open block. Tags inside an open block are text. Without `actions`,
    thoughts are the only blocks. The time is linear in the text."""

    def __init__(self, *, actions: bool = True, grammar: Grammar = GRAMMAR) -> None:
        self._opening = grammar.opening if actions else _THINK
        self._parts: list[str] = []
        self._tail = ""  # the end of the text, which may hold the start of a tag
        self._block: list[str] = []  # the content of the open block before `_tail`
        self.open: str | None = None

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(self._parts)

    def append(self, new: str) -> None:
        """Appends text in which tags are text."""
        self._parts.append(new)

    def push(self, new: str) -> tuple[str, str] | None:
        """Appends text. Returns (kind, content) of the action that it completes."""
        self._parts.append(new)
        text, start = self._tail + new, 0
        while True:
            if self.open is None:
                if not (match := self._opening.search(text, start)):
                    # Kept as short as possible: searching all text at each token takes quadratic time.
                    self._tail = text[max(start, len(text) - _LONGEST_OPENING + 1) :]
                    return None
                self.open, self._block, start = match[1], [], match.end()
            closing = f"</{self.open}>"
            end = text.find(closing, start)
            if end < 0:
                end = max(start, len(text) - len(closing) + 1)
                self._block.append(text[start:end])
                self._tail = text[end:]
                return None
            kind, content = self.open, "".join(self._block) + text[start:end]
            self.open, start = None, end + len(closing)
            if kind != "think":
                self._tail = text[start:]
                return kind, content


class Segment(NamedTuple):
    """One block without its tags (`kind`: think, search, tool or answer), or the text between blocks (`kind`: text).

    `closed` is False if the closing tag is missing.
    """

    kind: str
    text: str
    closed: bool = True


def segments(text: str, grammar: Grammar = GRAMMAR) -> list[Segment]:
    """The blocks of a turn and the text between them, in order. Tags inside an open block are its text."""
    found: list[Segment] = []
    start = 0
    while opening := grammar.opening.search(text, start):
        _add_text(found, text[start : opening.start()])
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        if end < 0:
            return [*found, Segment(opening[1], text[opening.end() :], closed=False)]
        found.append(Segment(opening[1], text[opening.end() : end]))
        start = end + len(closing)
    _add_text(found, text[start:])
    return found


def _add_text(found: list[Segment], between: str) -> None:
    if between.strip():
        found.append(Segment("text", between))
