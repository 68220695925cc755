"""The context of a medical case: the hand-written history, findings and course, among ward charts and normal results."""

from random import Random

from data_builders.sources.builtin_cases.grammar import Part, Slot, by_key, draw, expand, headed, paragraphs, word_lists
from data_builders.sources.builtin_cases.people import people, towns
from data_builders.sources.builtin_cases.scenario import Scenario

WORDS = word_lists("medical")
ANALYTES, ALIASES, QUIET, BACKGROUND, WARD, HEADINGS, QUESTIONS = (
    by_key(WORDS[name]) for name in ("analytes", "aliases", "quiet", "background", "ward", "headings", "questions")
)
MEETING = 4
LAYOUTS = (
    ("[Admission note|Clinical summary|Medical record], {hospital}", "{title}\n", ""),
    (
        "Dear {doctor}, [thank you for agreeing to see|I would be grateful for your opinion on|may I ask your advice about] "
        "[the following patient of our ward|a patient who worries us|the patient described below].",
        "",
        "[With kind regards|Yours sincerely], {doctor}, {hospital}",
    ),
    ("[Case file|Case record] prepared by {doctor} for the [weekly|monthly] conference", "{number}. {title}\n", ""),
    ("", "", ""),
    ("", "", ""),
    ("", "{TITLE}: ", ""),
)
"""Opening, headings and closing of each layout. Number `MEETING` is that of minutes."""


def compose(scenario: Scenario, rng: Random) -> str:
    """The context; its layout goes by the scenario's number, its fillings by `rng`."""
    named = people(rng)
    place = f"{towns(rng)()} [General Hospital|District Hospital|Infirmary|University Hospital]"
    slots: dict[str, Slot] = {"doctor": lambda: f"Dr {named()}", "hospital": expand(place, rng)}
    parts, layout = _parts(scenario, rng), scenario.number % len(LAYOUTS)
    if layout == MEETING:
        return _meeting(parts, rng, slots)
    opening, heading, closing = LAYOUTS[layout]
    blocks = [expand(opening, rng, slots), headed(parts, HEADINGS, heading, rng), expand(closing, rng, slots)]
    return paragraphs(blocks).replace(": - ", ":\n- ")


def _parts(scenario: Scenario, rng: Random) -> list[Part]:
    """All paragraphs in an order in which they may come; charts and ward notes come at changing places."""
    written = dict(scenario.sections)
    known = set(scenario.items("covered"))
    topics = [topic for topic in BACKGROUND if topic not in known]
    background = " ".join(expand(rng.choice(BACKGROUND[t]), rng) for t in rng.sample(topics, min(7, len(topics))))
    silent = " ".join(expand(rng.choice(QUIET[organ]), rng) for organ in scenario.items("quiet"))
    body = expand(rng.choice(WORDS["body"]), rng, _body(scenario))
    events = scenario.items("ward") or sorted(WARD)
    notes = " ".join(expand(rng.choice(WARD[key]), rng) for key in rng.sample(events, min(6, len(events))))
    kind = scenario.fields["kind"]
    parts: list[Part] = []
    for name, text in written.items():
        if name == "examination":
            parts.append((name, f"{body} {text} {silent}"))
        else:
            parts.append((name, text))
        if name == "history":
            parts.append(("background", background))
        if name == "tests":
            parts.append(("normal", _normal(scenario, rng)))
    names = [name for name, _ in parts]
    parts.insert(
        rng.randint(names.index("examination"), names.index("examination") + 1), ("chart", _chart(scenario, rng))
    )
    parts.insert(rng.choice([2, len(parts) - 1, len(parts)]), ("ward", notes))
    parts.append(("question", expand(rng.choice(QUESTIONS[kind]), rng)))
    return parts


def _body(scenario: Scenario) -> dict[str, str]:
    weight, height = scenario.fields["body"].split(", ")
    return {"weight": weight.removesuffix(" kg"), "height": height.removesuffix(" cm")}


def _normal(scenario: Scenario, rng: Random) -> str:
    """Results of the panels that the illness leaves alone, without any that the text gives itself."""
    stated = " ".join(scenario.sections.values()).lower()
    results = [result for panel in scenario.items("normal") for result in ANALYTES[panel]]
    values = draw([result for result in results if not any(n in stated for n in _names(result))], 14, rng)
    listed = ", ".join(values[:-1]) + f" and {values[-1]}"
    return rng.choice(WORDS["normal leads"]).replace("{list}", listed)


def _names(result: str) -> list[str]:
    """The names under which a text may already give a result."""
    name = result.partition(" {")[0].lower()
    return [name, *ALIASES.get(name, [])]


def _chart(scenario: Scenario, rng: Random) -> str:
    """Three readings within the scenario's `vitals`, as lines of a chart or as prose."""
    spans = dict(entry.split(" ", 1) for entry in scenario.items("vitals"))
    ranges = {name: "{" + span.replace("-", "..") + "}" for name, span in spans.items()}
    times = scenario.items("times") or rng.choice(WORDS["days"]).split("; ")
    as_prose = rng.random() < 0.5
    readings = []
    for when in times:
        template = rng.choice(WORDS["chart prose"]) if as_prose else WORDS["chart"][0]
        readings.append(expand(expand(template, rng, {**ranges, "when": when[0].upper() + when[1:]}), rng))
    return ". ".join(readings) + "." if as_prose else "\n".join(f"- {reading}" for reading in readings)


def _meeting(parts: list[Part], rng: Random, slots: dict[str, Slot]) -> str:
    """Minutes in which each paragraph is spoken by somebody who would know."""
    doctor, nurse, chair = (expand("{doctor}", rng, slots) for _ in range(3))
    speaker = {
        "chart": f"{nurse.removeprefix('Dr ')} (nursing)",
        "nursing": f"{nurse.removeprefix('Dr ')} (nursing)",
        "ward": f"{nurse.removeprefix('Dr ')} (nursing)",
        "question": f"{chair} (chair)",
    }
    opening = f"Minutes of the case meeting, {slots['hospital']}. Presented by {doctor}; chaired by {chair}."
    return paragraphs(
        [opening, *(f"{speaker.get(name, doctor)}: {text}".replace(": - ", ":\n- ") for name, text in parts)]
    )
