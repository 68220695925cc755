"""Long texts as the case of a question: what does not fit into a prompt can still be searched.

Each sentence begins with the mark of its text (`[A]`, `[B]`, `[REFERENCE]`), so that every passage says which text it
is of, wherever it is cut.
"""

import re
from collections.abc import Iterable

from retrieval.passages import sentences

_HEADING = re.compile(r"^(?:#{1,6}\s+(.+?)|\\(?:sub)*section\*?\{(.+?)\})\s*$", re.MULTILINE)
_HEADINGS = 40


def corpus(parts: Iterable[tuple[str, str]]) -> str:
    """(mark, text) pairs as one text, a sentence a line."""
    return "\n".join(f"[{mark}] {text[start:end]}" for mark, text in parts for start, end in sentences(text))


def stands_in_case(mark: str, text: str) -> str:
    """What a prompt says of a text instead of showing it: where it is, how long, and its headings."""
    headings = [(match[1] or match[2]).strip() for match in _HEADING.finditer(text)]
    lead = (
        f"This text has {len(text)} characters. It is not shown here: its sentences stand in the case, each marked "
        f"[{mark}]; search for what you need of it."
    )
    if not headings:
        return lead
    count = f"{_HEADINGS} of {len(headings)} headings" if len(headings) > _HEADINGS else "headings"
    return f"{lead} Its {count}: {'; '.join(headings[:_HEADINGS])}"
