"""Sentence templates. `[a|b]` is one of the parts (may be nested), `{3.5..5.0}` a number in that range with the decimals
of its lower end, `{1200..4800,}` the same with a thousands separator, `{name}` a slot.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from textwrap import dedent

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"\{(\d+(?:\.\d+)?)\.\.(\d+(?:\.\d+)?)(,?)\}")
_SLOT = re.compile(r"\{([a-z_][a-z_0-9]*)\}")
Slot = str | Callable[[], str]


def expand(template: str, rng: Random, slots: Mapping[str, Slot] | None = None) -> str:
    """Expands a template to one text.

    Raises:
        KeyError: a slot has no value.
    """
    text = " ".join(template.split())
    while (found := _CHOICE.search(text)) is not None:
        text = text[: found.start()] + rng.choice(found[1].split("|")) + text[found.end() :]
    text = _RANGE.sub(lambda match: _number(match, rng), text)
    given = slots or {}

    def fill(match: re.Match[str]) -> str:
        value = given[match[1]]
        return value if isinstance(value, str) else value()

    return re.sub(r"  +", " ", _SLOT.sub(fill, text)).strip()


def _number(match: re.Match[str], rng: Random) -> str:
    low, high = match[1], match[2]
    decimals = len(low.partition(".")[2])
    value = rng.uniform(float(low), float(high)) if decimals else rng.randint(int(low), int(high))
    return f"{value:{match[3]}.{decimals}f}"


def draw(templates: Sequence[str], count: int, rng: Random, slots: Mapping[str, Slot] | None = None) -> list[str]:
    """Expands `count` different templates (or all, if there are fewer) in random order."""
    return [expand(template, rng, slots) for template in rng.sample(templates, min(count, len(templates)))]


def lines(text: str) -> list[str]:
    """Returns the templates of a block: one per unindented line; indented lines continue it."""
    entries: list[str] = []
    for line in dedent(text).strip("\n").split("\n"):
        if line[:1].isspace() and entries:
            entries[-1] += " " + line.strip()
        elif line.strip():
            entries.append(line.strip())
    return entries


def table(text: str) -> dict[str, list[str]]:
    """Groups the `key: template` lines of a block by key."""
    found: dict[str, list[str]] = {}
    for line in lines(text):
        key, _, template = line.partition(": ")
        found.setdefault(key, []).append(template)
    return found


def paragraphs(texts: Iterable[str]) -> str:
    """Joins non-empty texts with blank lines."""
    return "\n\n".join(text for text in texts if text)
