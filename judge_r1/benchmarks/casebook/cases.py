"""The cases of `casebook`, one YAML file each, in a folder for each part: documents, a sound reasoning in steps, and
flawed versions of steps.

A flaw replaces whole steps of the reference, so that both reasonings have the same steps in the same order.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field, field_validator, model_validator

from judge_r1.core.errors import JudgeError
from judge_r1.core.folders import lacks
from judge_r1.core.record_base import PrincipleNumber
from judge_r1.core.records import Case, Domain, Flaw, Origin, ReasoningPair, Span
from judge_r1.core.verdicts import Preference
from judge_r1.files.pair_set import PairSet
from judge_r1.files.yaml_config import ConfigModel, load_config

FOLDER = Path(__file__).with_name("cases")
Part = Literal["train", "dev", "test"]
PARTS: tuple[Part, ...] = get_args(Part)
WRITER = "a language model, checked by others (docs/casebook.md)"
Text = Annotated[str, Field(min_length=1)]


class EditedStep(ConfigModel):
    """One step of the reference, rewritten so that it violates `principle`. `step` counts from 1."""

    principle: PrincipleNumber
    step: int = Field(ge=1)
    text: Text


class WrittenFlaw(ConfigModel):
    """A flawed reasoning: the steps that differ from the reference. `why` says what is wrong and where the case shows
    it."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    edits: tuple[EditedStep, ...] = Field(min_length=1)
    why: Text

    @field_validator("edits")
    @classmethod
    def _one_edit_a_step(cls, edits: tuple[EditedStep, ...]) -> tuple[EditedStep, ...]:
        steps = [edit.step for edit in edits]
        if steps != sorted(set(steps)):
            raise ValueError(f"steps must rise without repeats, not {steps}")
        return edits


class WrittenCase(ConfigModel):
    """A case with its reference reasoning and the flaws that were written into it."""

    domain: Domain
    title: Text
    decision: Text
    context: Text
    reference: tuple[Text, ...] = Field(min_length=6, max_length=10)
    flaws: tuple[WrittenFlaw, ...]

    @model_validator(mode="after")
    def _flaws_fit(self) -> "WrittenCase":
        names = [flaw.name for flaw in self.flaws]
        if len(set(names)) < len(names):
            raise ValueError(f"the names of the flaws repeat: {names}")
        for flaw in self.flaws:
            for edit in flaw.edits:
                if edit.step > len(self.reference):
                    raise ValueError(f"flaw {flaw.name}: step {edit.step} of {len(self.reference)}")
                if edit.text.strip() == self.reference[edit.step - 1].strip():
                    raise ValueError(f"flaw {flaw.name}: step {edit.step} is the reference's")
        return self

    def case(self, name: str) -> Case:
        return Case.of(
            domain=self.domain,
            context=self.context.strip(),
            decision=self.decision.strip(),
            reference=_numbered(self.reference)[0],
            source="casebook",
            license="Apache-2.0",
            meta={"name": name, "title": self.title},
        )

    def pair(self, case: Case, flaw: WrittenFlaw, variant: int, preferred: Preference) -> ReasoningPair:
        """The pair of the reference and the flawed reasoning, the better one on the side `preferred`."""
        edited = {edit.step: edit for edit in flaw.edits}
        steps = [edited[n].text if n in edited else step for n, step in enumerate(self.reference, 1)]
        flawed, spans = _numbered(steps)
        flaws = tuple(
            Flaw(principle=edit.principle, operator=flaw.name, span=spans[edit.step - 1]) for edit in flaw.edits
        )
        origin = Origin(teacher=WRITER, seed=0, flaws=flaws)
        return ReasoningPair.of(case, flawed, variant=variant, origin=origin, seed=0).placed(preferred)


def _numbered(steps: Sequence[str]) -> tuple[str, list[Span]]:
    """The steps as numbered lines, and the span of each without its number."""
    text, spans = "", []
    for number, step in enumerate(steps, 1):
        text += f"{number}. "
        spans.append(Span(start=len(text), end=len(text) + len(step.strip())))
        text += step.strip() + "\n"
    return text.rstrip("\n"), spans


def load_part(part: Part, folder: Path = FOLDER) -> PairSet:
    """The cases of a part of `folder` and their pairs. Of the pairs of a principle, and of those of several, half have
    the better reasoning as A.

    Raises:
        JudgeError: The part has no case, or a file is not of the form.
    """
    cases, pairs, placed = list[Case](), list[ReasoningPair](), Counter[tuple[int, ...]]()
    sides: tuple[Preference, ...] = ("A", "B")
    if not (files := sorted((folder / part).glob("*.yaml"))):
        raise JudgeError(
            f"{lacks(folder / part, 'case (NAME.yaml)')}: give the folder of a casebook, with {', '.join(PARTS)} in it"
        )
    for path in files:
        written = load_config(WrittenCase, path)
        case = written.case(path.stem)
        cases.append(case)
        for variant, flaw in enumerate(written.flaws, 1):
            principles = tuple(sorted({edit.principle for edit in flaw.edits}))
            group = principles if len(principles) == 1 else ()
            pairs.append(written.pair(case, flaw, variant, sides[placed[group] % 2]))
            placed[group] += 1
    return PairSet.of(cases, pairs)
