"""Joins the steps of a reference."""

from data_builders.sources.corpus_io import words


def joined(steps: tuple[str, ...], most: int) -> list[str]:
    """Joins the shortest pair of neighbouring steps until at most `most` steps are left."""
    found = list(steps)
    while len(found) > most:
        at = min(range(len(found) - 1), key=lambda n: words(found[n]) + words(found[n + 1]))
        found[at : at + 2] = [f"{found[at]} {found[at + 1]}"]
    return found
