"""Splits a peer review into steps: one per paragraph or list item, with a short heading joined to the step after it,
and a sentence that goes on in the next paragraph to its rest.

Form text (ticked questions, statements of interest and expertise) and bibliography are dropped.
"""

import re
from typing import Any

from data_builders.sources.corpus_io import clean, one_line, take, words
from data_builders.sources.text_repair import Changes, joined_steps

HEADING_WORDS, ANNOUNCEMENT_WORDS = 6, 15
_ITEM = re.compile(r"^(?:[-•*–]|\(?\d{1,2}[.)](?=\s)|\(?[a-z]\))\s*")
_RULE = re.compile(r"[-=_*\s]+")
_TICKED = re.compile(r"(?:yes|no|partly|not applicable|i cannot comment.*)\.?", re.I)
_FORM = re.compile(
    r"competing interests?\b|i have read this submission\b|reviewer expertise\b|reviewer response\b", re.I
)


def review_steps(nodes: list[Any], where: str, changes: Changes) -> tuple[list[str], int]:
    """The steps of a review, and the number of paragraphs dropped as form text or bibliography. `changes` counts what
    was joined."""
    steps: list[str] = []
    heading, dropped = "", 0
    for number, node in enumerate(nodes):
        at = f"{where}, node {number}"
        kind, content = take(node, "ntype", str, at), clean(take(node, "content", str, at))
        if kind in ("article-title", "ref") or _FORM.match(content) or _RULE.fullmatch(content):
            dropped += 1
        elif _TICKED.fullmatch(content):
            asked = bool(steps) and steps[-1].endswith("?")
            dropped += 1 + asked
            del steps[len(steps) - asked :]
        else:
            for item in _items(content) if kind == "list" else [one_line(content)]:
                text = _ITEM.sub("", item)
                if _is_heading(item, text):
                    heading = f"{heading} {text}".strip()
                elif text:
                    steps.append(f"{heading} {text}".strip())
                    heading = ""
    if heading:
        steps.append(heading)
    return joined_steps(steps, changes), dropped


def _items(content: str) -> list[str]:
    """The items of a list node. A line without a marker continues the item before it."""
    items: list[str] = []
    for line in filter(None, map(one_line, content.split("\n"))):
        if items and not _ITEM.match(line):
            items[-1] += f" {line}"
        else:
            items.append(line)
    return items


def _is_heading(item: str, text: str) -> bool:
    """Whether a text announces what follows: it ends in a colon, or is short, no list item and no full sentence."""
    if text.endswith(":"):
        return words(text) <= ANNOUNCEMENT_WORDS
    return item == text and words(text) <= HEADING_WORDS and not text.endswith((".", "?", "!", "”", '"'))
