"""Sentence templates. `[a|b]` is one of the parts (may be nested), `{3.5..5.0}` a number in that range with the decimals
of its lower end, `{1200..4800,}` the same with a thousands separator, `{name}` a slot.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random

WORDS = Path(__file__).parent / "words"
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"\{(\d+(?:\.\d+)?)\.\.(\d+(?:\.\d+)?)(,?)\}")
_SLOT = re.compile(r"\{([a-z_][a-z_0-9]*)\}")
Slot = str | Callable[[], str]
Part = tuple[str, str]
"""The kind of a paragraph and its text."""


def expand(template: str, rng: Random, slots: Mapping[str, Slot] | None = None) -> str:
    """Expands a template to one text.

    Raises:
        KeyError: a slot has no value.
    """
    text = _RANGE.sub(lambda match: _number(match, rng), chosen(template, rng))
    given = slots or {}

    def fill(match: re.Match[str]) -> str:
        value = given[match[1]]
        return value if isinstance(value, str) else value()

    return re.sub(r"  +", " ", _SLOT.sub(fill, text)).strip()


def chosen(template: str, rng: Random) -> str:
    """Replaces each choice of a template by one of its parts."""
    text = " ".join(template.split())
    while (found := _CHOICE.search(text)) is not None:
        text = text[: found.start()] + rng.choice(found[1].split("|")) + text[found.end() :]
    return text


def _number(match: re.Match[str], rng: Random) -> str:
    low, high = match[1], match[2]
    decimals = len(low.partition(".")[2])
    value = rng.uniform(float(low), float(high)) if decimals else rng.randint(int(low), int(high))
    return f"{value:{match[3]}.{decimals}f}"


def draw(templates: Sequence[str], count: int, rng: Random, slots: Mapping[str, Slot] | None = None) -> list[str]:
    """Expands `count` different templates (or all, if there are fewer) in random order."""
    return [expand(template, rng, slots) for template in rng.sample(templates, min(count, len(templates)))]


def word_lists(name: str) -> dict[str, list[str]]:
    """Reads `words/NAME.txt`: `=== LIST` begins a list, and each line below it is one template."""
    _, *parts = re.split(r"(?m)^=== ", (WORDS / f"{name}.txt").read_text("utf-8"))
    return {entries[0]: entries[1:] for entries in (part.strip().split("\n") for part in parts)}


def by_key(entries: Iterable[str]) -> dict[str, list[str]]:
    """Groups `key: template` entries by key."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        key, _, template = entry.partition(": ")
        found.setdefault(key, []).append(template)
    return found


def paragraphs(texts: Iterable[str]) -> str:
    """Joins non-empty texts with blank lines."""
    return "\n\n".join(text for text in texts if text)


def headed(parts: Sequence[Part], titles: Mapping[str, Sequence[str]], heading: str, rng: Random) -> str:
    """Joins parts, each after `heading` with one of the titles of its kind in place of `{title}`, `{TITLE}`.

    `{number}` and `{letter}` count the headings. A kind without titles has no heading.
    """
    blocks, number = [], 0
    for kind, text in parts:
        if heading and kind in titles:
            title = rng.choice(titles[kind])
            number += 1
            text = heading.format(title=title, TITLE=title.upper(), number=number, letter=chr(64 + number)) + text
        blocks.append(text)
    return paragraphs(blocks)
