"""Collects what a generated case states in its sections, and the steps of its reference."""

import re

from data_builders.sources.builtin_cases.filling import Filling, led
from data_builders.sources.builtin_cases.matters import Side

LEAD_SHARE = 0.25
"""The share of the sentences that get a lead, if their first word allows it."""
ARGUMENTS = ("applicant", "government")
"""Sections whose sentences say themselves who says so: they get no lead."""
_PRONOUN = re.compile(r"(?:He|She|His|Her|It|They|This|That|These)\b")
LINKS = (
    "Moreover,",
    "In addition,",
    "Furthermore,",
    "Besides,",
    "It also counts that",
    "It has to be added that",
)


class Written:
    """The sections and steps of one case. `lead` may stand before a statement."""

    def __init__(self, filling: Filling, *leads: str) -> None:
        self.filling, self.leads = filling, leads
        self.steps: list[str] = []
        self._texts: dict[str, list[str]] = {}

    def add(self, section: str, side: Side) -> "Filling":
        """States a matter in its section and judges it in a step. Returns the names of the matter."""
        inner = self.filling.inner()
        self.state(section, inner.any_text(side.statements))
        judged = inner.text(side.judged)
        rng = self.filling.rng
        linked = len(self.steps) > 1 and rng.random() < LEAD_SHARE
        self.steps.append(led(rng.choice(LINKS), judged) if linked else judged)
        return inner

    def state(self, section: str, text: str) -> None:
        """Adds a text to a section, some with a lead."""
        rng = self.filling.rng
        if self.leads and section not in ARGUMENTS and self._texts.get(section) and rng.random() < LEAD_SHARE:
            text = led(rng.choice(self.leads), text)
        self._texts.setdefault(section, []).append(text)

    def insert(self, section: str, text: str) -> None:
        """Adds a text to a section behind its first one, but not before one that begins with a pronoun."""
        texts = self._texts.setdefault(section, [])
        places = [at for at in range(1, len(texts)) if _PRONOUN.match(texts[at]) is None]
        texts.insert(self.filling.rng.choice([*places, len(texts)]), text)

    def sections(self, order: tuple[str, ...]) -> dict[str, str]:
        """Returns the text of each section."""
        return {name: " ".join(self._texts[name]) for name in order if name in self._texts}
