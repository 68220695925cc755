"""Generates complaints to a human-rights court: a measure, what speaks for and against it, and the judgment."""

from datetime import date, timedelta
from random import Random

from data_builders.sources.builtin_cases.details import add_details, on
from data_builders.sources.builtin_cases.filling import Filling, small, with_article
from data_builders.sources.builtin_cases.grammar import word_lists
from data_builders.sources.builtin_cases.matters import GENERAL, Side, Topic, topics
from data_builders.sources.builtin_cases.people import first_name, people, towns
from data_builders.sources.builtin_cases.scenario import Scenario
from data_builders.sources.builtin_cases.writing import Written

TOPICS = topics("legal")
WORDS = word_lists("made")
JOBS = " ".join(word_lists("people")["jobs"]).split()
SECTIONS = ("facts", "proceedings", "law", "applicant", "government")
SPAN, YEARS = "560..900", "2006..2013"
OWN_WEIGHT = 2
OTHER_SIDE = {True: "the public interest", False: "the length of the proceedings"}
"""What speaks against a violation, and for one, if no point does."""


def scenario(topic: Topic, number: int, rng: Random) -> Scenario:
    """Returns a complaint about the measure of `topic`."""
    named, places = people(rng), towns(rng)
    woman = rng.random() < 0.5
    pronouns = ("she", "her", "her") if woman else ("he", "his", "him")
    name, town = f"{first_name(rng, woman)} {named().split()[-1]}", places()
    short = f"{'Ms' if woman else 'Mr'} {name.split()[-1]}"
    days = _dates(topic, rng)
    first, second, third, lodged = days
    slots = {f"d{n}": on(day) for n, day in enumerate(days[:3], start=1)} | {"y1": str(first.year + 1)}
    slots |= {
        **dict(zip(("he", "his", "him"), pronouns, strict=True)),
        "short": short,
        "town": town,
        "court": f"District Court of {town}",
        "regional": f"Regional Court of {places()}",
        "sec": str(rng.randint(11, 240)),
    }
    article = topic.fields.get("provision", (topic.fields["article"][0].replace("p1", "1 of Protocol No. 1"),))[0]
    filling = Filling(rng, {**slots, "art": article})
    written = Written(filling, *WORDS["legal leads"])
    for section in ("facts", "law"):
        written.add(section, topic.of(section)[0].worse)
    written.state("proceedings", filling.any_text(tuple(WORDS["legal proceedings"])))
    drawn = [(m, OWN_WEIGHT) for m in topic.two_sided] + [
        (m, 1) for m in rng.sample(TOPICS[GENERAL].two_sided, rng.randint(5, 7))
    ]
    rng.shuffle(drawn)
    bad = rng.choice([0.25, 0.5, 0.8])
    age = rng.randint(31, 66)
    worse: list[tuple[int, str]] = []
    better: list[tuple[int, str]] = []
    for matter, weight in drawn:
        side, points = _side(matter.worse, matter.better, bad, rng), worse
        points = worse if side is matter.worse else better
        inner = written.add(matter.section, side)
        points.append((weight, inner.text(side.point)))
        age = int(inner.slots.get("ga", age))
    for party, points in (("applicant", worse), ("government", better)):
        written.state(party, filling.any_text(topic.fields[party]))
        for _, point in rng.sample(points, min(3, len(points))):
            said = rng.choice(WORDS[f"legal {party}"])
            written.state(party, filling.inner().text(said.replace("POINT", small(point))))
    before = timedelta(days=rng.randint(400, 2500))
    periods = {"facts": (first, third), "proceedings": (second, third), "law": (first - before, first)}
    add_details(written, "legal", periods, rng)
    violated = sum(w for w, _ in worse) >= sum(w for w, _ in better)
    strong, weak = (
        sorted(points, key=lambda p: -p[0]) for points in ((worse, better) if violated else (better, worse))
    )
    found = {"one": small(strong[0][1]), "two": small(strong[min(1, len(strong) - 1)][1])}
    against = {"weak": small(weak[0][1]) if weak else OTHER_SIDE[violated]}
    ending = filling.inner()
    ending.slots.update(found | against)
    ending.slots["ask"] = topic.fields["ask"][0]
    outcome = "violation" if violated else "no violation"
    written.steps += [ending.text(rng.choice(WORDS[f"legal {kind}, {outcome}"])) for kind in ("end", "after")]
    job = rng.choice(JOBS).replace("_", " ")
    fields = {
        "article": topic.fields["article"][0],
        "provision": article,
        "applicant": f"{short.split()[0]} {name}, born in {first.year - age}, {with_article(job)} in {town}",
        "short": short,
        "lodged": on(lodged),
        "decision": ending.text(rng.choice(WORDS[f"legal decision, {outcome}"])),
    }
    return Scenario(number, fields, written.sections(SECTIONS), tuple(written.steps))


def _side(worse: Side, better: Side | None, bad: float, rng: Random) -> Side:
    return worse if better is None or rng.random() < bad else better


def _dates(topic: Topic, rng: Random) -> tuple[date, date, date, date]:
    """The days of the measure, of two decisions, and when the application was lodged."""
    years, span = (
        [int(value) for value in topic.fields.get(name, (default,))[0].split("..")]
        for name, default in (("year", YEARS), ("span", SPAN))
    )
    first = date(rng.randint(*years), 1, 1) + timedelta(days=rng.randrange(365))
    second = first + timedelta(days=rng.randint(15, 110))
    third = second + timedelta(days=rng.randint(120, 380))
    lodged = max(first + timedelta(days=rng.randint(*span)), third + timedelta(days=40))
    return first, second, third, lodged
