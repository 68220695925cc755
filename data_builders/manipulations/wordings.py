"""The fixed texts that operators insert: modern-day sentences, vague terms and names."""

from functools import cache
from itertools import product

from data_builders.lexicons import Lexicon, load_lexicon


class ModernSentences(Lexicon):
    """Sentences about today's technology: every template with every device and person."""

    templates: tuple[str, ...]
    devices: tuple[str, ...]
    someone: tuple[str, ...]


class Wordings(Lexicon):
    """`terms` replace names, and `pool` has names of persons."""

    modern: ModernSentences
    terms: tuple[str, ...]
    pool: tuple[str, ...]


@cache
def wordings() -> Wordings:
    return load_lexicon("manipulations", Wordings)


@cache
def modern_sentences() -> tuple[tuple[str, ...], ...]:
    """Different sentences that are neutral in tone and do not belong into an old text, in groups by template."""
    modern = wordings().modern
    return tuple(
        tuple(
            template.format(device=device, someone=person, someone_cap=person[0].upper() + person[1:])
            for device, person in product(modern.devices, modern.someone)
        )
        for template in modern.templates
    )
