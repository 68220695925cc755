"""Incremental decoding of sampled ids, and the scanner that finds tags in the text."""

import re
from collections.abc import Callable, Sequence

_OPENING = re.compile(r"<(think|search|answer)>")


_LONGEST_TAG = len("<answer>")


class StreamDecoder:
    """Ids to text, one id at a time: characters split over several ids appear once they are whole, and what stands
    before them at once, so that a tag is seen at the very id that completes it."""

    def __init__(self, decode: Callable[[Sequence[int]], str]) -> None:
        self._decode = decode
        self._ids: list[int] = []
        self._context = self._done = 0  # ids[context:done] are decoded again for their effect on what follows
        self._given = 0  # characters of decode(ids[context:]) that were handed out

    def push(self, token: int) -> str:
        self._ids.append(token)
        text = self._decode(self._ids[self._context :])
        whole = text.rstrip("�")
        new = whole[self._given :]
        self._given = max(self._given, len(whole))
        if new and whole == text:
            self._context, self._done = self._done, len(self._ids)
            self._given = len(self._decode(self._ids[self._context :]))
        return new

    def flush(self) -> str:
        """What is still held back (an incomplete character at the end)."""
        return self._decode(self._ids[self._context :])[self._given :]


class TagScanner:
    """Text in, the first complete action outside an open block out; tags inside an open block are text."""

    def __init__(self) -> None:
        self.text = ""
        self.open: str | None = None
        self._content = self._from = 0

    def push(self, new: str) -> tuple[str, str] | None:
        self.text += new
        while True:
            if self.open is None:
                if not (match := _OPENING.search(self.text, self._from)):
                    self._from = max(self._from, len(self.text) - _LONGEST_TAG + 1)
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
