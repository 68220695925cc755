"""Splits running prose, such as a novel, into sentences.

`passages.sentences` ends a sentence at every line break, which suits reports with headings and numbered paragraphs. A
book in plain text breaks its lines at about 70 characters. Here such a break is white space.
"""

import re

from retrieval.passages import sentences

WRAPPED = range(40, 121)
"""The lengths of a line that may be broken for its width alone. Shorter lines are headings or verses, longer ones
whole paragraphs."""
LONGEST = 2_000
"""Characters of the longest sentence that may span lines. A longer one is a table or a list without full stops: it is
split at its lines."""
_BREAK = re.compile(r"[^\S\n]*\n[^\S\n]*(?=\S)(?![-*•|#>]\s|\d+[.)]\s)")
"""One line break, unless a list item, a quotation or a table row follows."""


def prose_sentences(text: str) -> list[tuple[int, int]]:
    """The character spans `[start, end)` of the sentences, in order, without surrounding white space. Every character
    that is not white space is in exactly one."""
    found: list[tuple[int, int]] = []
    for start, end in sentences(_unwrapped(text)):
        if end - start <= LONGEST:
            found.append((start, end))
        else:
            found += [(start + first, start + last) for first, last in sentences(text[start:end])]
    return found


def _unwrapped(text: str) -> str:
    """The text with spaces in the place of line breaks inside a sentence; positions stay."""
    parts, at = [], 0
    for match in _BREAK.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
        if line and not line.startswith(("#", "|")) and (len(line) in WRAPPED or text[match.end()].islower()):
            parts += [text[at : match.start()], " " * (match.end() - match.start())]
            at = match.end()
    return "".join([*parts, text[at:]])
