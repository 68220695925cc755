"""The outline of a reference reasoning: its list entries, its sentences, and which of them refer to others.

A step is a sentence, without the numbering and heading of its list entry.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from data_builders.text_units.dependence import is_dependent
from data_builders.text_units.steps import MARKER, blocks, sentences
from judge_r1.core.records import Case

_MIN_WORDS = 4
"""Words of a step. A shorter sentence belongs to the one before it."""
_HEADING = re.compile(r"#{1,6} .*|\*\*[^*]+\*\*")
_LABEL = re.compile(r"\*\*[^*\n]{1,90}\*\*(?:[ \t]*\([^)\n]*\))?(?:[ \t]*[:–-])?[ \t]+(?=\S)")
"""A heading on the line of its text."""
_NUMBERED = re.compile(r"\(?(\d{1,2})[.)]")
_REFERENCE = re.compile(
    r"\b(?:steps?|points?|items?|comments?|remarks?|arguments?|questions?|no\.) #?\(?"
    r"(\d{1,2}(?:(?:, | and | or | to |, and |–|-)\d{1,2})*)(?![.,]?\d|\s?%| of\b| percent)",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:the above|(?:as|was|were|been) \w+ (?:above|earlier|before)|above-mentioned|mentioned above|aforementioned"
    r"|(?:previous|preceding|earlier|last|first|former|latter) (?:step|point|reason|finding|argument|comment)s?)\b",
    re.IGNORECASE,
)
"""What points back without a number."""


@dataclass(frozen=True)
class _Entry:
    """A list entry or paragraph: characters of the reference. `body` is where its first sentence starts."""

    start: int
    body: int
    indent: int
    number: int | None


@dataclass(frozen=True)
class _Sentence:
    """A sentence of entry `entry`. `announces`: a heading, or a text that ends in a colon. It is no step of its own."""

    entry: int
    start: int
    end: int
    text: str
    announces: bool


class Outline:
    """The entries and sentences of a reference. `steps` are the indices of the sentences that are steps."""

    def __init__(self, case: Case) -> None:
        self._case, self._text = case, case.reference
        self._entries: list[_Entry] = []
        self.sentences: list[_Sentence] = []
        for start, end in blocks(self._text):
            self._add(start, end)
        self.steps = [i for i, sentence in enumerate(self.sentences) if not sentence.announces]

    def _add(self, start: int, end: int) -> None:
        text = self._text[start:end]
        marker = MARKER.match(text)
        number = _NUMBERED.match(marker[0].strip()) if marker else None
        body = marker.end() if marker else 0
        label = _LABEL.match(text, body)
        body = label.end() if label else body
        indent = start - (self._text.rfind("\n", 0, start) + 1)
        self._entries.append(_Entry(start, start + body, indent, int(number[1]) if number else None))
        found: list[tuple[int, int]] = []
        for a, b in sentences(text[body:]):
            if found and len(text[body + a : body + b].split()) < _MIN_WORDS:
                found[-1] = found[-1][0], b
            else:
                found.append((a, b))
        for a, b in found:
            said = text[body + a : body + b]
            announces = said.rstrip("* ").endswith(":") or _HEADING.fullmatch(said) is not None
            first = start + body + a
            self.sentences.append(_Sentence(len(self._entries) - 1, first, start + body + b, said, announces))

    def closure(self, index: int) -> set[int]:
        """The step and all that it needs."""
        found, todo = set[int](), [index]
        while todo:
            step = todo.pop()
            if step not in found:
                found.add(step)
                todo += self._needs(step)
        return found

    def _needs(self, index: int) -> Iterator[int]:
        """Yield the steps that a step refers to, and the step that its entry is listed under."""
        sentence = self.sentences[index]
        before = [step for step in self.steps if step < index]
        if before and (is_dependent(sentence.text) or _BACK.search(sentence.text)):
            yield before[-1]
        entry = self._entries[sentence.entry]
        for text in (self._text[entry.start : entry.body], sentence.text):
            named = {number for _, number in self._references(text, sentence.entry)} - {sentence.entry}
            yield from (step for step in self.steps if self.sentences[step].entry in named)
        indent = entry.indent
        parents = (i for i in range(sentence.entry - 1, -1, -1) if self._entries[i].indent < indent)
        parent = next(parents, None)
        yield from [step for step in before if self.sentences[step].entry == parent][-1:]

    def _references(self, text: str, origin: int) -> Iterator[tuple[tuple[int, int], int]]:
        """Yield the numbers of steps that a text of entry `origin` names, as characters of the text, and the entry of
        each. A range names the entries within it too, without characters."""
        for match in _REFERENCE.finditer(text):
            if match[0] in self._case.context:
                continue
            named = list(re.finditer(r"\d+", match[1]))
            entries = [self._entry_of(int(number[0]), origin) for number in named]
            for number, entry in zip(named, entries, strict=True):
                if entry is not None:
                    yield (match.start(1) + number.start(), match.start(1) + number.end()), entry
            if len(named) == 2 and re.search(r" to |[–-]", match[1]) and None not in entries:
                first, last = (entry for entry in entries if entry is not None)
                yield from (((0, 0), entry) for entry in range(first + 1, last))

    def _entry_of(self, number: int, origin: int) -> int | None:
        """The entry of the outermost list with a number: `origin` or the nearest one before it, else one behind it."""
        outermost = min((e.indent for e in self._entries if e.number is not None), default=0)
        found = [i for i, e in enumerate(self._entries) if e.number == number and e.indent == outermost]
        return next((i for i in reversed(found) if i <= origin), next(iter(found), None))

    def write(self, kept: set[int]) -> str:
        """The text of the kept steps, with their headings, numbered anew."""
        entries = {self.sentences[index].entry for index in kept}
        headings = self._headings(kept, entries)
        numbers = self._new_numbers(entries)
        text, last = "", -1
        for index in sorted(kept | headings):
            sentence = self.sentences[index]
            entry = self._entries[sentence.entry]
            if sentence.entry != last:
                before = self._text[: entry.start]
                text += before[len(before.rstrip()) :] if text else ""  # the line end and the indentation
                head, own = self._text[entry.start : entry.body], numbers.get(sentence.entry)
                marker = MARKER.match(self._text, entry.start)
                if marker and own is not None:
                    text += re.sub(r"\d+", str(own), marker[0])
                    head = self._text[marker.end() : entry.body]
                text += self._renumbered(head, sentence.entry, numbers)
                last = sentence.entry
            else:
                text += " "
            text += self._renumbered(sentence.text, sentence.entry, numbers)
        return text

    def _renumbered(self, text: str, origin: int, numbers: dict[int, int]) -> str:
        """A text of entry `origin` with the new numbers of the steps that it names."""
        for (start, end), entry in sorted(self._references(text, origin), reverse=True):
            text = f"{text[:start]}{numbers[entry]}{text[end:]}" if end else text
        return text

    def _headings(self, kept: set[int], entries: set[int]) -> set[int]:
        """The headings of kept sentences, whose entries are added to `entries`.

        A heading is kept with the entries that are indented below it, or else with the next sentence, unless it names
        a step that is dropped."""
        found = set[int]()
        for index in range(len(self.sentences) - 1, -1, -1):
            sentence = self.sentences[index]
            if not sentence.announces:
                continue
            below = self._below(sentence.entry)
            named = {entry for _, entry in self._references(sentence.text, sentence.entry)} - {sentence.entry}
            if (entries.intersection(below) if below else index + 1 in kept | found) and named <= entries:
                found.add(index)
                entries.add(sentence.entry)
        return found

    def _below(self, entry: int) -> list[int]:
        indent, below = self._entries[entry].indent, list[int]()
        for i in range(entry + 1, len(self._entries)):
            if self._entries[i].indent <= indent:
                break
            below.append(i)
        return below

    def _new_numbers(self, kept: set[int]) -> dict[int, int]:
        """The new number of each kept entry. A list, at one indentation, keeps its first number."""
        new, previous, following = dict[int, int](), dict[int, int](), defaultdict[int, int](int)
        for i, entry in enumerate(self._entries):
            if entry.number is None:
                continue
            if entry.number <= previous.get(entry.indent, 99):
                following[entry.indent] = entry.number
            previous[entry.indent] = entry.number
            if i in kept:
                new[i] = following[entry.indent]
                following[entry.indent] += 1
        return new
