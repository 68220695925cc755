"""The metrics that a document is rated on, from 1 to 5: fluency, coherence, the six principles, or those of a file."""

from pathlib import Path

from pydantic import Field, model_validator

from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.registry import suggest
from judge_r1.files.yaml_config import ConfigModel, load_config


class Metric(ConfigModel):
    """A quality of a text. `definition` is one sentence, `details` say what to look for, and `anchors` describe the
    scores 5 to 1. `principle` is the number of a principle of LRBench."""

    name: str = Field(min_length=1, max_length=60, pattern=r"^[A-Za-z][A-Za-z0-9 -]*$")
    definition: str = Field(min_length=1)
    details: tuple[str, ...] = ()
    anchors: tuple[str, str, str, str, str] | None = None
    tags: tuple[str, ...] = ()
    principle: int | None = Field(None, ge=1, le=6)

    @property
    def title(self) -> str:
        """The name as prompts and reports write it."""
        return self.name[:1].upper() + self.name[1:]


class MetricFile(ConfigModel):
    """A YAML file with a list `metrics`."""

    metrics: tuple[Metric, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _different(self) -> "MetricFile":
        names = [metric.name.lower() for metric in self.metrics]
        if len(set(names)) < len(names):
            raise ValueError("two metrics have the same name")
        return self


FLUENCY = Metric(
    name="fluency",
    definition="How well each sentence is written, on its own.",
    details=(
        "Grammar: are sentences complete, and do tenses, verbs and word order fit?",
        "Spelling: are words spelled correctly?",
        "Word choice: do the words fit, and do they vary?",
        "Punctuation: does it make sentences easy to read?",
    ),
    anchors=(
        "No errors that a careful reader notices.",
        "A few small errors that do not disturb.",
        "Easy to follow on the whole, with clear errors in several places.",
        "Errors in many places that make reading hard.",
        "Hardly any sentence is correct.",
    ),
    tags=("GRAMMAR", "SPELLING", "SYNTAX", "LEXICON"),
)
COHERENCE = Metric(
    name="coherence",
    definition="How well the sentences and paragraphs form one whole.",
    details=(
        "Logic: does each event or claim follow from what came before, in a sensible order?",
        "Transitions: do paragraphs connect, without abrupt jumps or foreign material?",
        "Clarity: is it clear who or what is meant?",
        "Structure: do persons, places, times and style stay consistent, without repetition?",
    ),
    anchors=(
        "Everything belongs together and follows.",
        "A few weak connections that do not disturb.",
        "The thread holds on the whole, with clear breaks in several places.",
        "Many breaks; the whole can be guessed with effort.",
        "No thread; parts have nothing to do with each other.",
    ),
    tags=("LOGIC", "STRUCTURE", "CLARITY", "TRANSITION"),
)
_PRINCIPLE_ANCHORS = (
    "The text never violates it.",
    "One small violation without weight.",
    "Several small violations, or one that matters.",
    "Violations that make the text unreliable.",
    "Violated throughout.",
)
_KNOWN: dict[str, Metric] = {"fluency": FLUENCY, "coherence": COHERENCE} | {
    principle.code: Metric(
        name=principle.name,
        definition=principle.definition,
        anchors=_PRINCIPLE_ANCHORS,
        principle=principle.number,
    )
    for principle in PRINCIPLES
}
DEFAULT = "fluency+coherence"


def parse_metrics(spec: str) -> tuple[Metric, ...]:
    """The metrics of `fluency+coherence`, `P1+P2`, `principles`, or a YAML file.

    Raises: JudgeError for an unknown name or a repetition; ConfigError for a file that is not valid.
    """
    if spec.endswith((".yaml", ".yml")):
        return load_config(MetricFile, Path(spec)).metrics
    if spec == "principles":
        return tuple(_KNOWN[principle.code] for principle in PRINCIPLES)
    names = spec.split("+")
    for name in names:
        if name not in _KNOWN:
            raise JudgeError(f"no metric is named {name!r}{suggest(name, [*_KNOWN, 'principles'])}")
    if len(set(names)) < len(names):
        raise JudgeError(f"metrics {spec!r} name one twice")
    return tuple(_KNOWN[name] for name in names)
