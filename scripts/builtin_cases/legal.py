"""The context of a complaint: hand-written facts, proceedings, law and arguments, and the procedure around them."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from random import Random

from scripts.builtin_cases import legal_words as words
from scripts.builtin_cases.grammar import Slot, expand, paragraphs
from scripts.builtin_cases.people import people, towns
from scripts.builtin_cases.scenario import Scenario, ScenarioError

MONTHS = "January February March April May June July August September October November December".split()
NUMBERS = "two three four five six seven eight nine".split()
Part = tuple[str, str]


def compose(scenario: Scenario, rng: Random) -> str:
    """The context; its layout goes by the scenario's number, its fillings by `rng`."""
    parts = _parts(scenario, rng)
    return LAYOUTS[scenario.number % len(LAYOUTS)](parts, rng)


def _slots(scenario: Scenario, rng: Random) -> dict[str, Slot]:
    named, places = people(rng), towns(rng)
    lodged = _date(scenario)
    communicated = lodged + timedelta(days=rng.randint(250, 700))
    observed = communicated + timedelta(days=rng.randint(90, 170))
    costs = rng.randrange(1200, 6900, 10)
    return {
        "applicant": scenario.field("applicant"),
        "article": _article(scenario),
        "short": scenario.field("short"),
        "lawyer": named(),
        "agent": named(),
        "town": places,
        "app": f"{rng.randint(1200, 78000)}/{lodged.year % 100:02d}",
        "lodged": scenario.field("lodged"),
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


def _article(scenario: Scenario) -> str:
    """`8`, or `14 in conjunction with Article 8`, or `1 of Protocol No. 1`; a scenario may be more precise."""
    if "provision" in scenario.fields:
        return scenario.fields["provision"]
    names = [entry.replace("p1", "1 of Protocol No. 1") for entry in scenario.items("article")]
    return " in conjunction with Article ".join(names)


def _date(scenario: Scenario) -> date:
    day, _, rest = scenario.field("lodged").partition(" ")
    month, _, year = rest.partition(" ")
    try:
        return date(int(year), MONTHS.index(month) + 1, int(day))
    except ValueError:
        raise ScenarioError(f"scenario {scenario.slug}: lodged must be a date like 4 May 2015") from None


def _written(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _parts(scenario: Scenario, rng: Random) -> list[Part]:
    """All paragraphs; procedure first or last, the claims and other material at changing places."""
    slots = _slots(scenario, rng)

    def one(templates: list[str]) -> str:
        text = expand(rng.choice(templates), rng, slots)
        return re.sub(r"(?:^|(?<=[.!?] ))[a-z]", lambda match: match[0].upper(), text)

    opening, writers, notice = one(words.OPENING), one(words.WRITERS), one(words.NOTICE)
    complaint = one(words.COMPLAINT)
    admissible, later = one(words.ADMISSIBLE), one(words.LATER)
    articles = scenario.items("article")
    others = [one(words.THIRD[articles[0]]), one(words.TEXTS[articles[-1]]), one(words.FILE)]
    rng.shuffle(others)
    told = list(scenario.sections.items())
    claims = ("claims", one(words.CLAIMS))
    other = ("others", " ".join(others))
    if rng.random() < 0.5:
        parts = [("procedure", f"{opening} {writers} {complaint} {notice} {admissible}"), *told]
        tail = [other, ("claims", f"{claims[1]} {later}")]
    else:
        parts = [("opening", f"{opening} {complaint} {writers}"), *told]
        tail = [claims, ("procedure", f"{notice} {admissible} {later}"), other]
    rng.shuffle(tail)
    if rng.random() < 0.4:
        parts.insert(len(parts) - 2, tail.pop())
    return parts + tail


def _heading(name: str, rng: Random) -> str:
    return rng.choice(words.TITLES[name]) if name in words.TITLES else ""


def _judgment(parts: list[Part], rng: Random) -> str:
    """Capital headings, numbered paragraphs."""
    blocks, number = [], 0
    for name, text in parts:
        heading = _heading(name, rng)
        if heading:
            blocks.append(heading.upper())
        for paragraph in text.split("\n"):
            if paragraph.strip():
                number += 1
                blocks.append(f"{number}. {paragraph.strip()}")
    return paragraphs(blocks)


def _memo(parts: list[Part], rng: Random) -> str:
    """Lettered headings."""
    letters = iter("ABCDEFGHIJ")
    return paragraphs(
        f"{next(letters)}. {heading}\n{text}" if (heading := _heading(name, rng)) else text for name, text in parts
    )


def _plain(parts: list[Part], rng: Random) -> str:
    return paragraphs(text for _, text in parts)


def _titled(parts: list[Part], rng: Random) -> str:
    return paragraphs(f"{heading}\n{text}" if (heading := _heading(name, rng)) else text for name, text in parts)


def _labelled(parts: list[Part], rng: Random) -> str:
    return paragraphs(f"{heading}. {text}" if (heading := _heading(name, rng)) else text for name, text in parts)


LAYOUTS: list[Callable[[list[Part], Random], str]] = [_judgment, _titled, _plain, _memo, _labelled]
