"""The context of a review: a paper described by hand, with the set-up, statements and form that every paper has."""

from collections.abc import Callable
from random import Random

from scripts.builtin_cases import academic_words as words
from scripts.builtin_cases.grammar import Slot, draw, expand, paragraphs
from scripts.builtin_cases.people import people
from scripts.builtin_cases.scenario import Scenario

Part = tuple[str, str]
MONTHS = "January February March April May June September October November".split()
COUNT = "two three four five six seven eight nine".split()


def compose(scenario: Scenario, rng: Random) -> str:
    """The context; its layout goes by the scenario's number, its fillings by `rng`."""
    name = list(LAYOUTS)[scenario.number % len(LAYOUTS)]
    slots = _slots(scenario, rng)
    opening = expand(words.OPENING[name], rng, slots)
    return paragraphs([opening, LAYOUTS[name](_parts(scenario, rng, slots), rng)])


def _slots(scenario: Scenario, rng: Random) -> dict[str, Slot]:
    return {
        "title": scenario.field("title"),
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
    known = set(scenario.items("told"))
    topics = [topic for topic in sorted(words.STATEMENTS) if topic not in known]
    said = " ".join(expand(rng.choice(words.STATEMENTS[t]), rng) for t in rng.sample(topics, min(6, len(topics))))
    checked = "; ".join(draw(words.CHECKLIST, 7, rng))
    listed = rng.choice(["The office ticked: {}.", "Check list: {}.", "On the check list, marked yes: {}."])
    form = ("form", f"{expand(rng.choice(words.FORM), rng, slots)} {said} {listed.format(checked)}")
    keys = scenario.items("setup")
    told = [text for key in dict.fromkeys(keys) for text in draw(words.SETUP[key], keys.count(key), rng)]
    setup = ("setup", " ".join(told))
    related = ("related", expand(rng.choice(words.RELATED), rng, slots))
    office = (
        "office",
        f"{expand(rng.choice(words.OFFICE), rng, slots)} {expand(rng.choice(words.EXHIBITS), rng, slots)}",
    )
    parts = list(scenario.sections.items())
    names = [name for name, _ in parts]
    parts.insert(rng.choice([names.index("method") + 1, names.index("results")]), setup)
    parts.insert(rng.choice([1, len(parts)]), related)
    first, last = rng.sample([form, office], 2)
    parts = [first, *parts, last]
    return [*parts, ("asked", expand(rng.choice(words.ASKED), rng))]


def _headed(parts: list[Part], rng: Random, form: Callable[[int, str], str]) -> str:
    return paragraphs(form(n, rng.choice(words.TITLES[name])) + text for n, (name, text) in enumerate(parts, 1))


def _digest(parts: list[Part], rng: Random) -> str:
    return _headed(parts, rng, lambda n, title: f"{title}\n")


def _plain(parts: list[Part], rng: Random) -> str:
    return paragraphs(text for _, text in parts)


def _notes(parts: list[Part], rng: Random) -> str:
    return _headed(parts, rng, lambda n, title: f"[{title}] ")


def _sections(parts: list[Part], rng: Random) -> str:
    return _headed(parts, rng, lambda n, title: f"{n} {title}\n")


def _editor(parts: list[Part], rng: Random) -> str:
    return _headed(parts, rng, lambda n, title: f"{title}. ")


LAYOUTS: dict[str, Callable[[list[Part], Random], str]] = {
    "digest": _digest,
    "report": _plain,
    "notes": _notes,
    "sections": _sections,
    "editor": _editor,
}
