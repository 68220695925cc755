"""The context of a medical case: the hand-written history, findings and course, among ward charts and normal results."""

from collections.abc import Callable
from random import Random

from scripts.builtin_cases import medical_words as words
from scripts.builtin_cases.grammar import draw, expand, paragraphs
from scripts.builtin_cases.people import people, towns
from scripts.builtin_cases.scenario import Scenario, ScenarioError

Part = tuple[str, str]
"""A kind of paragraph (see `HEADINGS`) and its text."""

HEADINGS: dict[str, list[str]] = {
    "presentation": ["Reason for admission", "Presenting problem", "Why the patient came", "Complaint"],
    "background": ["Asked in addition", "Other background", "Habits and surroundings", "Negative history"],
    "history": ["History", "Earlier illnesses and medicines", "Past history", "What is known from before"],
    "examination": ["Examination", "Findings at the bedside", "Physical findings", "On examination"],
    "chart": ["Observations", "Nursing chart", "Vital signs", "From the bedside chart"],
    "tests": ["Investigations", "Laboratory and imaging", "Tests", "Results"],
    "normal": ["Other results", "Remaining laboratory work", "Normal results", "Further values"],
    "ward": ["Other notes", "From the nursing record", "Organization", "Administrative notes"],
    "course": ["Course", "What happened then", "Progress", "Further course"],
    "question": ["Question", "To be decided", "Open question", "What is asked"],
}
_QUESTIONS = {
    "diagnosis": [
        "The team asks [what single diagnosis explains these findings|which illness this is|what the diagnosis is] and [what has to be done first|which step comes next].",
        "[At the afternoon meeting|On the ward round] the question was [what connects the findings|which diagnosis fits all of this] and [how to proceed|what should follow].",
        "[We would like to know|It has to be settled] which disease is at work and what it asks of us [now|in the coming days].",
    ],
    "treatment": [
        "The team asks [which treatment should be chosen|how to treat now] and [why|on what grounds], given what is written above.",
        "[The decision to be made is about treatment|What has to be decided is the treatment]: which option, in what order, and [with what precautions|how it is to be watched].",
        "[At the meeting|On the round] the treatment was to be [settled|agreed], with [its reasons and its follow-up|reasons that the patient can follow].",
    ],
}


def compose(scenario: Scenario, rng: Random) -> str:
    """The context; its layout goes by the scenario's number, its fillings by `rng`."""
    named = people(rng)
    place = f"{towns(rng)()} [General Hospital|District Hospital|Infirmary|University Hospital]"
    slots: dict[str, str | Callable[[], str]] = {"doctor": lambda: f"Dr {named()}", "hospital": expand(place, rng)}
    layout = LAYOUTS[scenario.number % len(LAYOUTS)]
    return layout(_parts(scenario, rng), scenario, rng, slots)


def _parts(scenario: Scenario, rng: Random) -> list[Part]:
    """All paragraphs in an order in which they may be told; charts and ward notes come at changing places."""
    written = dict(scenario.sections)
    known = set(scenario.items("told"))
    topics = [topic for topic in words.BACKGROUND if topic not in known]
    background = " ".join(expand(rng.choice(words.BACKGROUND[t]), rng) for t in rng.sample(topics, min(7, len(topics))))
    silent = " ".join(expand(rng.choice(words.QUIET[organ]), rng) for organ in scenario.items("quiet"))
    body = expand(rng.choice(words.BODY), rng, _body(scenario))
    events = scenario.items("ward") or sorted(words.WARD)
    notes = " ".join(expand(rng.choice(words.WARD[key]), rng) for key in rng.sample(events, min(6, len(events))))
    kind = scenario.field("kind")
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
    parts.append(("question", expand(rng.choice(_QUESTIONS[kind]), rng)))
    return parts


def _body(scenario: Scenario) -> dict[str, str]:
    weight, height = scenario.field("body").split(", ")
    return {"weight": weight.removesuffix(" kg"), "height": height.removesuffix(" cm")}


def _normal(scenario: Scenario, rng: Random) -> str:
    """Results of the panels that the illness leaves alone, without any that the text gives itself."""
    told = " ".join(scenario.sections.values()).lower()
    results = [result for panel in scenario.items("normal") for result in words.ANALYTES[panel]]
    values = draw([result for result in results if not any(n in told for n in _names(result))], 14, rng)
    listed = ", ".join(values[:-1]) + f" and {values[-1]}"
    return rng.choice(words.NORMAL_LEADS).replace("{list}", listed)


def _names(result: str) -> list[str]:
    """The names under which a text may already give a result."""
    name = result.partition(" {")[0].lower()
    return [name, *words.ALIASES.get(name, [])]


def _chart(scenario: Scenario, rng: Random) -> str:
    """Three readings within the scenario's `vitals`, as lines of a chart or as prose."""
    spans = dict(entry.split(" ", 1) for entry in scenario.items("vitals"))
    missing = sorted({"temp", "pulse", "sys", "dia", "resp", "spo2"} - set(spans))
    if missing:
        raise ScenarioError(f"scenario {scenario.slug}: vitals lack {missing[0]!r}")
    ranges = {name: "{" + span.replace("-", "..") + "}" for name, span in spans.items()}
    times = scenario.items("times") or rng.choice(words.DAYS)
    as_prose = rng.random() < 0.5
    readings = []
    for when in times:
        template = rng.choice(words.CHART_PROSE) if as_prose else words.CHART
        readings.append(expand(expand(template, rng, {**ranges, "when": when[0].upper() + when[1:]}), rng))
    return ". ".join(readings) + "." if as_prose else "\n".join(f"- {reading}" for reading in readings)


Layout = Callable[[list[Part], Scenario, Random, dict[str, "str | Callable[[], str]"]], str]


def _headed(parts: list[Part], rng: Random, form: Callable[[int, str], str]) -> str:
    return paragraphs(form(n, rng.choice(HEADINGS[name])) + text for n, (name, text) in enumerate(parts, 1))


def _note(parts: list[Part], scenario: Scenario, rng: Random, slots: dict[str, str | Callable[[], str]]) -> str:
    opening = expand("[Admission note|Clinical summary|Medical record], {hospital}", rng, slots)
    return paragraphs([opening, _headed(parts, rng, lambda n, heading: f"{heading}\n")])


def _numbered(parts: list[Part], scenario: Scenario, rng: Random, slots: dict[str, str | Callable[[], str]]) -> str:
    opening = expand("[Case file|Case record] prepared by {doctor} for the [weekly|monthly] conference", rng, slots)
    return paragraphs([opening, _headed(parts, rng, lambda n, heading: f"{n}. {heading}\n")])


def _inline(parts: list[Part], scenario: Scenario, rng: Random, slots: dict[str, str | Callable[[], str]]) -> str:
    text = _headed(parts, rng, lambda n, heading: f"{heading.upper()}: ")
    return text.replace(": - ", ":\n- ")


def _letter(parts: list[Part], scenario: Scenario, rng: Random, slots: dict[str, str | Callable[[], str]]) -> str:
    opening = expand(
        "Dear {doctor}, [thank you for agreeing to see|I would be grateful for your opinion on|may I ask your advice about] "
        "[the following patient of our ward|a patient who worries us|the patient described below].",
        rng, slots,
    )  # fmt: skip
    closing = expand("[With kind regards|Yours sincerely], {doctor}, {hospital}", rng, slots)
    return paragraphs([opening, *(text for _, text in parts), closing])


def _report(parts: list[Part], scenario: Scenario, rng: Random, slots: dict[str, str | Callable[[], str]]) -> str:
    return paragraphs(text for _, text in parts)


def _meeting(parts: list[Part], scenario: Scenario, rng: Random, slots: dict[str, str | Callable[[], str]]) -> str:
    """Minutes in which each paragraph is spoken by somebody who would know."""
    doctor, nurse, chair = (expand("{doctor}", rng, slots) for _ in range(3))
    speaker = {
        "chart": f"{nurse.removeprefix('Dr ')} (nursing)",
        "ward": f"{nurse.removeprefix('Dr ')} (nursing)",
        "question": f"{chair} (chair)",
    }
    opening = f"Minutes of the case meeting, {slots['hospital']}. Presented by {doctor}; chaired by {chair}."
    return paragraphs(
        [opening, *(f"{speaker.get(name, doctor)}: {text}".replace(": - ", ":\n- ") for name, text in parts)]
    )


LAYOUTS: list[Layout] = [_note, _letter, _numbered, _report, _meeting, _inline]
