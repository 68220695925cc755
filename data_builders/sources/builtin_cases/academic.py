"""The context of a review: a paper described by hand, with the set-up, statements and form that every paper has."""

from random import Random

from data_builders.sources.builtin_cases.grammar import Part, Slot, by_key, draw, expand, headed, paragraphs, word_lists
from data_builders.sources.builtin_cases.people import people
from data_builders.sources.builtin_cases.scenario import Scenario

WORDS = word_lists("academic")
SETUP, STATEMENTS, OPENING, TITLES = (by_key(WORDS[name]) for name in ("setup", "statements", "opening", "titles"))
MONTHS = "January February March April May June September October November".split()
COUNT = "two three four five six seven eight nine".split()
HEADINGS = {
    "digest": "{title}\n",
    "report": "",
    "notes": "[{title}] ",
    "sections": "{number} {title}\n",
    "editor": "{title}. ",
}
"""The layouts, and how a heading looks in each."""


def compose(scenario: Scenario, rng: Random) -> str:
    """The context; its layout goes by the scenario's number, its fillings by `rng`."""
    name = list(HEADINGS)[scenario.number % len(HEADINGS)]
    slots = _slots(scenario, rng)
    opening = expand(OPENING[name][0], rng, slots)
    return paragraphs([opening, headed(_parts(scenario, rng, slots), TITLES, HEADINGS[name], rng)])


def _slots(scenario: Scenario, rng: Random) -> dict[str, Slot]:
    return {
        "title": scenario.fields["title"],
        "pages": str(rng.randint(9, 34)),
        "words": f"{rng.randrange(4800, 11900, 50):,}",
        "figures": rng.choice(COUNT),
        "tables": rng.choice(COUNT[:6]),
        "tables_word": rng.choice(COUNT[1:6]),
        "refs": str(rng.randint(28, 84)),
        "supp": str(rng.randint(3, 9)),
        "rel": rng.choice(COUNT[:4]),
        "editor": people(rng)(),
        "received": f"{rng.randint(2, 28)} {rng.choice(MONTHS)}",
        "days": rng.choice(COUNT[2:]),
        "weeks": rng.choice(COUNT[1:6]),
        "low": str(rng.randint(4, 12)),
        "rel_refs": str(rng.randint(11, 27)),
    }


def _parts(scenario: Scenario, rng: Random, slots: dict[str, Slot]) -> list[Part]:
    """The written sections in order; set-up after the method or the data, form and earlier work at changing places."""
    known = set(scenario.items("covered"))
    topics = [topic for topic in sorted(STATEMENTS) if topic not in known]
    said = " ".join(expand(rng.choice(STATEMENTS[t]), rng) for t in rng.sample(topics, min(6, len(topics))))
    checked = "; ".join(draw(WORDS["checklist"], 7, rng))
    listed = rng.choice(["The office ticked: {}.", "Check list: {}.", "On the check list, marked yes: {}."])
    form = ("form", f"{expand(rng.choice(WORDS['form']), rng, slots)} {said} {listed.format(checked)}")
    keys = scenario.items("setup")
    methods = [text for key in dict.fromkeys(keys) for text in draw(SETUP[key], keys.count(key), rng)]
    setup = ("setup", " ".join(methods))
    related = ("related", expand(rng.choice(WORDS["related"]), rng, slots))
    office = (
        "office",
        f"{expand(rng.choice(WORDS['office']), rng, slots)} {expand(rng.choice(WORDS['exhibits']), rng, slots)}",
    )
    parts = list(scenario.sections.items())
    names = [name for name, _ in parts]
    parts.insert(rng.choice([names.index("method") + 1, names.index("results")]), setup)
    parts.insert(rng.choice([1, len(parts)]), related)
    first, last = rng.sample([form, office], 2)
    parts = [first, *parts, last]
    return [*parts, ("asked", expand(rng.choice(WORDS["asked"]), rng))]
