"""A generated case before its layout: what is stated in each section, and the steps of the reference."""

from dataclasses import dataclass

from data_builders.sources.corpus_io import words


@dataclass(frozen=True)
class Scenario:
    """`sections` maps a name to its text; `steps` are the steps of the reference, without numbers. `number` chooses the
    layout."""

    number: int
    fields: dict[str, str]
    sections: dict[str, str]
    steps: tuple[str, ...]

    def items(self, name: str) -> list[str]:
        """Returns the comma-separated entries of a field; empty if it is absent."""
        return [entry.strip() for entry in self.fields.get(name, "").split(",") if entry.strip()]


def joined(steps: tuple[str, ...], most: int) -> list[str]:
    """Joins the shortest pair of neighbouring steps until at most `most` steps are left."""
    found = list(steps)
    while len(found) > most:
        at = min(range(len(found) - 1), key=lambda n: words(found[n]) + words(found[n + 1]))
        found[at : at + 2] = [f"{found[at]} {found[at + 1]}"]
    return found
