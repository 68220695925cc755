"""Sentences with choices: `[a|b]` is one of the parts (nested as one likes), `{3.5..5.0}` a number in that range, with
as many decimals as its lower end, `{1200..4800,}` the same with a comma at the thousands, `{name}` a slot.
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
    """One text of a template. KeyError for a slot that is not given."""
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
    """Texts of `count` different templates (of all, if there are no more), in random order."""
    return [expand(template, rng, slots) for template in rng.sample(templates, min(count, len(templates)))]


def lines(text: str) -> list[str]:
    """The templates of a block: one an unindented line, going on in indented ones."""
    entries: list[str] = []
    for line in dedent(text).strip("\n").split("\n"):
        if line[:1].isspace() and entries:
            entries[-1] += " " + line.strip()
        elif line.strip():
            entries.append(line.strip())
    return entries


def table(text: str) -> dict[str, list[str]]:
    """`key: template` lines of a block, by key."""
    found: dict[str, list[str]] = {}
    for line in lines(text):
        key, _, template = line.partition(": ")
        found.setdefault(key, []).append(template)
    return found


def paragraphs(texts: Iterable[str]) -> str:
    """The texts that say something, a blank line between two."""
    return "\n\n".join(text for text in texts if text)
