"""Templates whose numbers have names, so that a case and its reference give the same ones.

`{n=4..9}` draws a number and names it, `{n}` repeats it. `{m=n+1..3}`, `{m=n-1..3}` and `{m=n*0.8..0.9}` draw a number
relative to one before; `{n=40..80/10}` draws a multiple of ten. `{Name}` is the slot `name` with a capital. The rest is as in `grammar`.
"""

import re
from random import Random

from data_builders.sources.builtin_cases.grammar import chosen, expand

_NAMED = re.compile(r"\{(\w+)=(?:(\w+)([-+*]))?(\d+(?:\.\d+)?)\.\.(\d+(?:\.\d+)?)(?:/(\d+))?(,?)\}")
_SLOT = re.compile(r"\{(\w+)\}")
_LEADING = frozenset(
    "a an the as with without by since because no one two if in on at of from not among between before after only "
    "there it this these those such each all about according compensation for to when while instead".split()
)
"""Words that begin a sentence with a capital only because they come first."""


def capital(text: str) -> str:
    """Returns the text with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def with_article(noun: str) -> str:
    """Returns a noun with its indefinite article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def small(text: str) -> str:
    """Returns the text with its first letter in lower case, unless that begins a name or an abbreviation."""
    return f"{text[:1].lower()}{text[1:]}" if text[1:2].islower() or text[1:2] == " " else text


def led(lead: str, sentence: str) -> str:
    """Returns the sentence behind a lead such as `Moreover,`; unchanged if its first word may be a name."""
    first = re.match(r"[A-Za-z]+", sentence)
    if first is None or first[0].lower() not in _LEADING:
        return sentence
    return f"{lead} {sentence[0].lower()}{sentence[1:]}"


class Filling:
    """The names of one case, or, as `inner`, of one of its matters."""

    def __init__(self, rng: Random, slots: dict[str, str], outer: "Filling | None" = None) -> None:
        self.rng, self.slots, self.outer = rng, slots, outer

    def inner(self) -> "Filling":
        """Returns a filling that knows these names and adds its own."""
        return Filling(self.rng, {}, self)

    def value(self, name: str) -> str:
        """Returns the value of a name.

        Raises:
            KeyError: nothing has this name.
        """
        if name in self.slots:
            return self.slots[name]
        if self.outer is not None:
            return self.outer.value(name)
        if name[0].isupper():
            return capital(self.value(name[0].lower() + name[1:]))
        raise KeyError(name)

    def text(self, template: str) -> str:
        """Expands a template to one text that begins with a capital."""
        named = _NAMED.sub(self._drawn, chosen(template, self.rng))
        slots = {name: self.value(name) for name in _SLOT.findall(named)}
        return capital(expand(_SLOT.sub(lambda match: slots[match[1]], named), self.rng))

    def phrase(self, template: str) -> str:
        """Expands a template to a part of a sentence."""
        return small(self.text(template))

    def any_text(self, templates: tuple[str, ...]) -> str:
        """Expands one of several templates."""
        return self.text(self.rng.choice(templates))

    def _drawn(self, match: re.Match[str]) -> str:
        name, base, sign, low, high, step, comma = match.groups()
        if name not in self.slots:
            self.slots[name] = self._number(base, sign, low, high, int(step or 1), comma)
        return self.slots[name]

    def _number(self, base: str | None, sign: str | None, low: str, high: str, step: int, comma: str) -> str:
        decimals = len(low.partition(".")[2])
        if decimals:
            value = self.rng.uniform(float(low), float(high))
        else:
            value = float(self.rng.randrange(int(low), int(high) + 1, step))
        if base is not None:
            written = self.value(base)
            other, comma = float(written.replace(",", "")), "," if "," in written else comma
            if sign == "*":
                value, decimals = other * value, len(written.partition(".")[2])
            else:
                value = other + value if sign == "+" else other - value
        return f"{value:{comma}.{decimals}f}"
