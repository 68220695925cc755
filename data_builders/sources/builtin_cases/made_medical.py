"""Generates patients: an illness, some of its findings with their values, and what is to be done."""

from datetime import date, timedelta
from random import Random

from data_builders.sources.builtin_cases.details import add_details
from data_builders.sources.builtin_cases.filling import Filling, with_article
from data_builders.sources.builtin_cases.grammar import word_lists
from data_builders.sources.builtin_cases.matters import GENERAL, Matter, Topic, topics
from data_builders.sources.builtin_cases.scenario import Scenario
from data_builders.sources.builtin_cases.writing import Written

TOPICS = topics("medical")
JOBS = " ".join(word_lists("people")["jobs"]).split()
ADULT, RETIRED = 18, 66
COUNTS = {"presentation": (1, 1), "history": (2, 3), "examination": (1, 2), "tests": (4, 5), "course": (3, 3)}
"""How many findings of each section a case has, at least and at most."""
SLOTS = frozenset(("drug", "valve", "joint", "side", "cls", "cause"))
"""Fields that findings mention."""
COVERED = "surgery, family_far, travel, sleep"
"""Background that the findings of an illness may contradict."""


def scenario(topic: Topic, number: int, rng: Random) -> Scenario:
    """Returns a patient with the illness `topic`."""
    filling = Filling(rng, _person(topic, rng))
    for name in sorted(SLOTS.intersection(topic.fields)):
        filling.slots[name] = filling.phrase(topic.fields[name][0])
    written = Written(filling, "The notes say that")
    for section, (least, most) in COUNTS.items():
        own = topic.of(section)
        drawn = sorted(rng.sample(range(len(own)), min(len(own), rng.randint(least, most))))
        found: list[Matter] = [own[at] for at in drawn]
        if section == "tests":
            rng.shuffle(found)
        if section == "course":
            found += rng.sample(TOPICS[GENERAL].of("course"), rng.randint(2, 4))
        for matter in found:
            written.add(section, matter.worse)
    admitted = date(rng.randint(2019, 2024), 1, 1) + timedelta(days=rng.randrange(365))
    add_details(written, "medical", {"history": (admitted - timedelta(days=420), admitted - timedelta(days=30))}, rng)
    body = f"{rng.randint(52, 108)} kg, {rng.randint(156, 192)} cm"
    fields = {name: topic.fields[name][0] for name in ("vitals", "normal", "quiet")}
    fields |= {"kind": "diagnosis", "body": body, "covered": COVERED}
    fields["decision"] = filling.text(f"{topic.fields['name'][0]}; {topic.fields['plan'][0]}.")
    return Scenario(number, fields, written.sections((*COUNTS, "nursing")), tuple(written.steps))


def _person(topic: Topic, rng: Random) -> dict[str, str]:
    low, high = map(int, topic.fields["age"][0].split(".."))
    age = max(ADULT, rng.randint(low, high))
    woman = topic.fields.get("sex", ("",))[0] == "f" or rng.random() < 0.5
    job = rng.choice(JOBS).replace("_", " ")
    if age >= RETIRED:
        job = f"retired {job}"
    article = "an" if str(age).startswith(("8", "11", "18")) else "a"
    who = rng.choice(
        [f"{article} {age}-year-old {job}", f"{with_article(job)} aged {age}", f"{with_article(job)} of {age}"]
    )
    pronouns = ("she", "her", "her") if woman else ("he", "his", "him")
    return {"who": who, "age": str(age), **dict(zip(("he", "his", "him"), pronouns, strict=True))}
