"""Generates papers under review: a topic, a design, strengths and flaws, and the recommendation."""

import re
from datetime import date, timedelta
from random import Random

from data_builders.sources.builtin_cases.details import Period, add_details
from data_builders.sources.builtin_cases.filling import Filling
from data_builders.sources.builtin_cases.grammar import word_lists
from data_builders.sources.builtin_cases.matters import FOLDER, GENERAL, Matter, MatterError, Topic, topics
from data_builders.sources.builtin_cases.scenario import Scenario
from data_builders.sources.builtin_cases.writing import Written

COLUMNS = ("design", "units", "outcome", "ou", "arm", "control", "sites", "who", "setup")
SECTIONS = ("problem", "method", "data", "results", "checks", "limits")
_NOUNS = {"o": "outcome", "a": "arm", "c": "control", "u": "units"}
_ADJECTIVES = ("hearing", "living", "missing", "rotating")
_PLURALS = frozenset(("bees", "children", "larvae", "people", "scores", "sensors", "women"))
COVERED = "data, code, interest"
WORDS = word_lists("made")
DESIGNS = topics("academic")
GRADES = ((7, "rejection"), (4, "major"), (2, "minor"), (0, "acceptance"))
"""The least sum of the weights of the flaws for each recommendation."""


def _studies() -> list[dict[str, str]]:
    path = FOLDER / "studies.txt"
    rows = [[cell.strip() for cell in line.split("|")] for line in path.read_text("utf-8").strip().split("\n")]
    wrong = [row[0] for row in rows if len(row) != len(COLUMNS)]
    if wrong:
        raise MatterError(f"{path}: a line about {wrong[0]!r} does not have {len(COLUMNS)} columns")
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


TOPICS = {
    f"{study['design']}-{number}": Topic(
        f"{study['design']}-{number}", {name: (value,) for name, value in study.items()}, ()
    )
    for number, study in enumerate(_studies())
}


def scenario(topic: Topic, number: int, rng: Random) -> Scenario:
    """Returns a paper on `topic`."""
    study = {name: values[0] for name, values in topic.fields.items()}
    design = DESIGNS[study["design"]]
    filling = Filling(rng, study | _verbs(study))
    written = Written(filling, *WORDS["academic leads"])
    case = filling.any_text
    title = case(design.fields["title"])
    base = {section: case(design.fields[section]) for section in ("method", "data")}
    for section in ("problem", "results"):
        (matter,) = design.of(section)
        written.state(section, case(matter.worse.statements))
        written.steps.append(filling.text(matter.worse.judged))
    for section, text in base.items():
        written.state(section, text)
    drawn = rng.sample(design.two_sided, rng.randint(5, 7)) + rng.sample(DESIGNS[GENERAL].two_sided, rng.randint(4, 6))
    rng.shuffle(drawn)
    bad = rng.choice([0.15, 0.4, 0.7])
    flaws: list[tuple[int, str, str]] = []
    for matter in drawn:
        flaws += _add(matter, written, bad, rng)
    written.state("limits", case(tuple(WORDS["academic limits"])))
    written.state("checks", case(tuple(WORDS["academic checks"])))
    add_details(written, "academic", _periods(rng), rng)
    flaws.sort(key=lambda flaw: -flaw[0])
    grade = next(name for least, name in GRADES if sum(flaw[0] for flaw in flaws) >= least)
    ending = filling.inner()
    points = [point for _, point, _ in flaws] or ["a few questions of wording"]
    requests = [request for _, _, request in flaws] + WORDS["academic requests"]
    ending.slots.update({"one": points[0], "two": points[min(1, len(points) - 1)]})
    ending.slots.update({f"ask{n}": request for n, request in enumerate(requests[:4])})
    written.steps += [ending.text(rng.choice(WORDS[f"academic {kind}"])) for kind in (grade, "after")]
    fields = {"title": title, "setup": study["setup"], "covered": COVERED}
    fields["decision"] = ending.text(rng.choice(WORDS[f"academic decision, {grade}"]))
    return Scenario(number, fields, written.sections(SECTIONS), tuple(written.steps))


def _verbs(study: dict[str, str]) -> dict[str, str]:
    """The verbs that agree with the outcome (`o_was`), the arm (`a_was`), the control and the units."""
    forms = {"is": "are", "was": "were", "has": "have", "does": "do", "s": "", "es": ""}
    named = {key: forms if is_plural(study[name]) else {form: form for form in forms} for key, name in _NOUNS.items()}
    return {f"{key}_{form}": verb for key, verbs in named.items() for form, verb in verbs.items()}


def is_plural(phrase: str) -> bool:
    """Whether a noun phrase of a study takes a plural verb, such as `masks with worn filters`: a guess from words."""
    first, *_ = head = re.split(
        r" (?:of|in|at|on|to|by|for|per|with|without|from|than|that|after|before|until"
        r"|between|along|only|alone|across|above|under|upstream|changed|split|joined|normalized)\b",
        phrase,
    )[0].split()
    is_one = first in ("a", "an", "the", "one") or (
        first.endswith("ing") and first not in _ADJECTIVES and len(head) > 1
    )
    if _PLURALS.intersection(head):
        return True
    return not is_one and head[-1].endswith("s") and not head[-1].endswith(("ss", "us", "is", "'s"))


def _periods(rng: Random) -> dict[str, Period]:
    """When the work of each section was done."""
    begin = date(rng.randint(2017, 2020), 1, 1) + timedelta(days=rng.randrange(365))
    days = {
        "problem": (-1500, -300),
        "method": (-250, -10),
        "data": (0, 400),
        "checks": (410, 600),
        "limits": (610, 800),
    }
    return {name: (begin + timedelta(days=first), begin + timedelta(days=last)) for name, (first, last) in days.items()}


def _add(matter: Matter, written: Written, bad: float, rng: Random) -> list[tuple[int, str, str]]:
    """Writes one side of a matter. Returns its weight, flaw and request if it is the worse one."""
    worse = matter.better is None or rng.random() < bad
    side = matter.worse if worse or matter.better is None else matter.better
    inner = written.add(matter.section, side)
    if not worse:
        return []
    return [(matter.weight, inner.phrase(side.point), inner.phrase(side.request))]
