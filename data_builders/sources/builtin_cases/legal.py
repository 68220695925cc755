"""The context of a complaint: hand-written facts, proceedings, law and arguments, and the procedure around them."""

import re
from datetime import date, timedelta
from random import Random

from data_builders.sources.builtin_cases.grammar import Part, Slot, by_key, expand, headed, paragraphs, word_lists
from data_builders.sources.builtin_cases.people import people, towns
from data_builders.sources.builtin_cases.scenario import Scenario

MONTHS = "January February March April May June July August September October November December".split()
NUMBERS = "two three four five six seven eight nine".split()
WORDS = word_lists("legal")
THIRD, TEXTS, TITLES = (by_key(WORDS[name]) for name in ("third", "texts", "titles"))
HEADINGS = ("", "{title}\n", "", "{letter}. {title}\n", "{title}. ")
"""How a heading looks in each layout. The first layout is that of a judgment, with numbered paragraphs."""


def compose(scenario: Scenario, rng: Random) -> str:
    """The context; its layout goes by the scenario's number, its fillings by `rng`."""
    parts, layout = _parts(scenario, rng), scenario.number % len(HEADINGS)
    return headed(parts, TITLES, HEADINGS[layout], rng) if layout else _judgment(parts, rng)


def _slots(scenario: Scenario, rng: Random) -> dict[str, Slot]:
    named, places = people(rng), towns(rng)
    lodged = _date(scenario)
    communicated = lodged + timedelta(days=rng.randint(250, 700))
    observed = communicated + timedelta(days=rng.randint(90, 170))
    costs = rng.randrange(1200, 6900, 10)
    return {
        "applicant": scenario.fields["applicant"],
        "article": scenario.fields["provision"],
        "short": scenario.fields["short"],
        "lawyer": named(),
        "agent": named(),
        "town": places,
        "app": f"{rng.randint(1200, 78000)}/{lodged.year % 100:02d}",
        "lodged": scenario.fields["lodged"],
        "communicated": _written(communicated),
        "observed": _written(observed),
        "replied": _written(observed + timedelta(days=rng.randint(35, 80))),
        "moral": f"{rng.randrange(4000, 26000, 500):,}",
        "costs": f"{costs:,}",
        "proved": f"{round(costs * rng.uniform(0.3, 0.8) / 10) * 10:,}",
        "hours": str(rng.randint(18, 56)),
        "letters": str(rng.randint(14, 48)),
        "pages": str(rng.randint(210, 940)),
        "paragraphs": rng.choice(NUMBERS[1:]),
        "days": rng.choice(["seven", "ten", "fourteen", "twenty-one"]),
        "years": rng.choice(NUMBERS[1:6]),
        "few": rng.choice(NUMBERS[1:4]),
        "many": rng.choice(NUMBERS[2:4]),
    }


def _date(scenario: Scenario) -> date:
    day, _, rest = scenario.fields["lodged"].partition(" ")
    month, _, year = rest.partition(" ")
    return date(int(year), MONTHS.index(month) + 1, int(day))


def _written(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _parts(scenario: Scenario, rng: Random) -> list[Part]:
    """All paragraphs; procedure first or last, the claims and other material at changing places."""
    slots = _slots(scenario, rng)

    def one(templates: list[str]) -> str:
        text = expand(rng.choice(templates), rng, slots)
        return re.sub(r"(?:^|(?<=[.!?] ))[a-z]", lambda match: match[0].upper(), text)

    opening, writers, notice = one(WORDS["opening"]), one(WORDS["writers"]), one(WORDS["notice"])
    complaint = one(WORDS["complaint"])
    admissible, later = one(WORDS["admissible"]), one(WORDS["later"])
    articles = scenario.items("article")
    others = [one(THIRD[articles[0]]), one(TEXTS[articles[-1]]), one(WORDS["file"])]
    rng.shuffle(others)
    sections = list(scenario.sections.items())
    claims = ("claims", one(WORDS["claims"]))
    other = ("others", " ".join(others))
    if rng.random() < 0.5:
        parts = [("procedure", f"{opening} {writers} {complaint} {notice} {admissible}"), *sections]
        tail = [other, ("claims", f"{claims[1]} {later}")]
    else:
        parts = [("opening", f"{opening} {complaint} {writers}"), *sections]
        tail = [claims, ("procedure", f"{notice} {admissible} {later}"), other]
    rng.shuffle(tail)
    if rng.random() < 0.4:
        parts.insert(len(parts) - 2, tail.pop())
    return parts + tail


def _judgment(parts: list[Part], rng: Random) -> str:
    """Capital headings, numbered paragraphs."""
    blocks, number = [], 0
    for name, text in parts:
        if name in TITLES:
            blocks.append(rng.choice(TITLES[name]).upper())
        for paragraph in text.split("\n"):
            if paragraph.strip():
                number += 1
                blocks.append(f"{number}. {paragraph.strip()}")
    return paragraphs(blocks)
