"""The decision about a judge on people's labels: trusted, not trusted or undecided."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from judge_r1.core.record_base import Record
from judge_r1.core.text_check import counted
from judge_r1.labels.gold import Gold
from judge_r1.labels.kinds import BadLabels, Scheme
from judge_r1.labels.measures import Measured, Measures
from judge_r1.statistics.intervals import binomial_tail
from judge_r1.statistics.rates import exact_limits, labels_needed

Word = Literal["trusted", "not trusted", "undecided"]
State = Literal["met", "not met", "undecided"]
FEWEST_LABELS, FEWEST_OF_CLASS = 20, 5
"""Below these numbers the word is always "undecided"."""
PEOPLE = "people"
"""The requirement that the judge is not worse than a person by more than the margin."""
_REQUIREMENT = re.compile(r"(\|)?([a-z_0-9]+(?:\[[^\]]+\])?)(?(1)\|)\s*(>=|<=)\s*(\d*\.?\d+)")


class Requirement(Record):
    """A measure with its threshold. `absolute`: the size of the measure is at most the threshold."""

    measure: str
    threshold: float
    absolute: bool = False

    def __str__(self) -> str:
        name = f"|{self.measure}|" if self.absolute else self.measure
        return f"{name} {'<=' if self.absolute else '>='} {self.threshold:g}"


class Checked(Record):
    """A requirement with the measure's value and limits and whether it is met."""

    requirement: Requirement
    measured: Measured
    state: State
    hint: str = ""


class Decision(Record):
    """The word about a judge, and what it rests on."""

    word: Word
    checked: tuple[Checked, ...]
    because: str


def default_requirements(scheme: Scheme) -> list[Requirement]:
    """The requirements of a kind of labels. None of them is a standard; docs/labels.md lists what others use."""
    coverage = Requirement(measure="coverage", threshold=0.95)
    if scheme.kind == "binary":
        return [*(Requirement(measure=f"recall[{label}]", threshold=0.8) for label in scheme.answers), coverage]
    if scheme.kind == "ordinal":
        bias = Requirement(measure="bias", threshold=0.5, absolute=True)
        return [Requirement(measure="quadratic_kappa", threshold=0.6), bias, coverage]
    if scheme.kind == "numeric":
        return [coverage]
    return [Requirement(measure="kappa", threshold=0.6), coverage]


def parse_requirement(text: str) -> Requirement:
    """Reads `recall[fail]>=0.9` or `|bias|<=0.5`. Raises: BadLabels."""
    found = _REQUIREMENT.fullmatch(text.replace(" ", ""))
    at_most = bool(found and (found[1] or found[2] == "mae"))
    if not found or at_most != (found[3] == "<="):
        raise BadLabels(
            f"--require {text!r} must read MEASURE>=NUMBER, such as recall[fail]>=0.9, or |bias|<=0.5 or mae<=0.5"
        )
    if not at_most and float(found[4]) > 1:
        raise BadLabels(
            f"--require {text!r}: shares, correlations and kappas are at most 1, such as 0.8; an error is "
            "required as |bias|<=NUMBER or mae<=NUMBER"
        )
    return Requirement(measure=found[2], threshold=float(found[4]), absolute=at_most)


def check_known(requirements: Sequence[Requirement], known: Collection[str], advice: str = "") -> None:
    """Raises: BadLabels for a requirement whose measure is not among `known`."""
    if unknown := next((one.measure for one in requirements if one.measure not in known), None):
        raise BadLabels(f"--require {unknown}: the measures are {', '.join(known)}{advice}")


def decide(scheme: Scheme, gold: Gold, measures: Measures, requirements: Sequence[Requirement]) -> Decision:
    """The word: `trusted` if every requirement is met at 95 % confidence, `not trusted` if one is missed at 95 %, else
    `undecided`, as always with too few labels, with one class, or with people who do not agree.

    Raises:
        BadLabels: A requirement names a measure that this kind of labels does not have.
    """
    known = measures.values
    check_known(requirements, known, "; answers of a judge are kept: run again with --resume")
    checked = [_check(one, known[one.measure]) for one in requirements]
    ceiling = (measures.people or {}).get("ceiling")
    if ceiling and measures.people and measures.people["shared"] >= 30 and ceiling["met"] is not None:
        limit = Measured(value=ceiling["difference"], lower=ceiling["lower"])
        people = Requirement(measure=PEOPLE, threshold=-ceiling["margin"])
        checked.append(Checked(requirement=people, measured=limit, state="met" if ceiling["met"] else "undecided"))
    if (reason := _too_little(scheme, gold, measures)) is not None:
        return Decision(word="undecided", checked=tuple(checked), because=reason)
    if missed := [one for one in checked if one.state == "not met"]:
        return Decision(word="not trusted", checked=tuple(checked), because=f"{missed[0].requirement} is not met")
    if open_ := [one for one in checked if one.state == "undecided"]:
        because = "; ".join(f"{one.requirement} is undecided{': ' + one.hint if one.hint else ''}" for one in open_)
        return Decision(word="undecided", checked=tuple(checked), because=because)
    if scheme.kind == "numeric" and [one.measure for one in requirements] == ["coverage"]:
        because = "numbers have no usual requirement: give one by --require, such as spearman>=0.8 or mae<=0.5"
        return Decision(word="undecided", checked=tuple(checked), because=because)
    return Decision(word="trusted", checked=tuple(checked), because="all requirements are met")


def _check(requirement: Requirement, measured: Measured) -> Checked:
    lower, upper, threshold = measured.lower, measured.upper, requirement.threshold
    if measured.value is None or lower is None or upper is None:
        return Checked(
            requirement=requirement, measured=measured, state="undecided", hint="the labels do not determine it"
        )
    if requirement.absolute:
        state: State = "met" if -threshold <= lower and upper <= threshold else "undecided"
        if lower > threshold or upper < -threshold:
            state = "not met"
    else:
        state = "met" if lower >= threshold else "not met" if upper < threshold else "undecided"
    return Checked(requirement=requirement, measured=measured, state=state, hint=_hint(requirement, measured, state))


def _hint(requirement: Requirement, measured: Measured, state: State) -> str:
    """What would decide an undecided requirement."""
    if state != "undecided" or measured.value is None or requirement.absolute:
        return ""
    if measured.value <= requirement.threshold:
        return "the value itself is not above it: more labels will rather end in not trusted"
    if not requirement.measure.startswith("recall[") or measured.of is None:
        return "more labels decide it"
    label = requirement.measure.removeprefix("recall[").removesuffix("]")
    needed = labels_needed(measured.value, requirement.threshold)
    more = None if needed is None else needed - measured.of
    return f"about {counted(more, 'more label')} of {label!r}" if more and more > 0 else f"more labels of {label!r}"


def _too_little(scheme: Scheme, gold: Gold, measures: Measures) -> str | None:
    """Why these labels decide nothing, whatever the numbers are."""
    if measures.items < FEWEST_LABELS:
        return f"{counted(measures.items, 'labelled item')}: fewer than {FEWEST_LABELS} decide nothing"
    counts = gold.counts(scheme)
    if scheme.kind in ("binary", "nominal", "pairwise"):
        counted_classes = {label: n for label, n in counts.items() if label != "tie"}
        few = min(counted_classes, key=lambda label: counted_classes[label])
        if counts[few] < FEWEST_OF_CLASS:
            return f"{counted(counts[few], 'label')} of {few!r}: fewer than {FEWEST_OF_CLASS} of a class decide nothing"
    elif len(set(gold.labels.values())) < 2:
        return "all labels are the same"
    lower = (measures.people or {}).get("alpha_lower")
    if lower is not None and lower < 0.4:
        return "people do not agree with each other: fix the rule first"
    return None


def power(counts: Mapping[str, int], threshold: float, rates: Sequence[float]) -> dict[float, tuple[float, float]]:
    """How often recalls of each class of a true rate end in "trusted" and in "not trusted", for these numbers of labels
    and the same threshold for each class, from the binomial distribution."""
    found = {}
    for rate in rates:
        trusted, safe = 1.0, 1.0
        for n in counts.values():
            if n < 1:
                trusted = 0.0
                continue
            enough = next((k for k in range(n + 1) if exact_limits(k, n).lower >= threshold), n + 1)
            missed = max((k for k in range(n + 1) if exact_limits(k, n).upper < threshold), default=-1)
            trusted *= 0.0 if enough > n else 1 - binomial_tail(enough - 1, n, rate) if enough else 1.0
            safe *= 1.0 if missed < 0 else 1 - binomial_tail(missed, n, rate)
        found[rate] = (trusted, 1 - safe)
    return {rate: (round(a, 4), round(b, 4)) for rate, (a, b) in found.items() if math.isfinite(a)}
