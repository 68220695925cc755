"""Checks judges on people's labels: measures, decisions and differences."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
from pydantic import Field

from judge_r1.core.record_base import Record
from judge_r1.core.text_check import counted
from judge_r1.labels.decision import Decision, Requirement, check_known, decide, default_requirements
from judge_r1.labels.gold import Gold, gold_of
from judge_r1.labels.kinds import BadLabels, Kind
from judge_r1.labels.measures import Measures, measure
from judge_r1.labels.rows import Labels
from judge_r1.labels.verdicts import JudgeVerdicts
from judge_r1.statistics.annotators import EPSILON
from judge_r1.statistics.significance import flip_ci, holm, permutation

MARGIN = 0.1


class Options(Record):
    """How labels count. `adjudicator` is the person whose labels win; `each` compares with the label of each person;
    `split` chooses the items; `margin` is how much worse than a person a judge may be, `epsilon` that of the alt-test.
    """

    adjudicator: str | None = None
    each: bool = False
    split: str = "test"
    margin: float = MARGIN
    epsilon: float = EPSILON


DEFAULTS = Options()


class LabelFacts(Record):
    """What was read from the file of labels."""

    path: str
    digest: str
    kind: Kind
    answers: tuple[str, ...]
    items: int
    pool: int
    people: tuple[str, ...]
    labels: int
    classes: dict[str, int]
    clusters: int
    contested: tuple[str, ...]
    columns: dict[str, str]
    notes: tuple[str, ...]

    @property
    def described(self) -> str:
        """The number of items of each label; of numbers, which all differ, the range."""
        if self.kind == "numeric":
            return f"{min(self.classes, key=float)} to {max(self.classes, key=float)}"
        return ", ".join(f"{label} {count}" for label, count in self.classes.items())


class CheckedJudge(JudgeVerdicts):
    """A judge with its measures and the decision."""

    decision: Decision
    measures: Measures

    @property
    def settings(self) -> list[dict[str, Any]]:
        """The settings of its members, on which answers depend; none for verdicts of a file."""
        return list(self.asked.get("settings", {}).get("members", ()))

    @property
    def described(self) -> str:
        """The models that answered, and what it took."""
        asked = self.asked
        if not asked:
            return ""
        usage = asked.get("usage", {})
        tokens = int(usage.get("input_tokens", 0) + usage.get("output_tokens", 0))
        paid = f", {asked['usd']:.2f} $" if asked.get("usd") is not None else ""
        times = asked.get("seconds_by_item")
        each = f" (an item {times['p50']:.1f} s, p95 {times['p95']:.1f} s)" if times else ""
        reported = f", reported as {', '.join(asked['models'])}" if asked.get("models") else ""
        return (
            f"{reported}: {counted(asked['requests'], 'request')}, {counted(asked['repeats'], 'repeat')}, "
            f"{tokens} tokens{paid}, {asked['seconds']} s{each}"
        )


class Difference(Record):
    """The accuracy of judge `a` minus that of `b` on the same items: interval, p, and Holm's p over all pairs."""

    a: str
    b: str
    delta: float
    ci95: tuple[float, float]
    p: float
    p_holm: float


class CheckResult(Record):
    """`labels.json`."""

    schema_: Literal[1] = Field(1, alias="schema")
    labels: LabelFacts
    options: Options
    gold: dict[str, str]
    clusters: dict[str, str]
    judges: tuple[CheckedJudge, ...] = Field(min_length=1)
    differences: tuple[Difference, ...]


def check_requirements(labels: Labels, requirements: Sequence[Requirement], options: Options = DEFAULTS) -> None:
    """What can be refused before a judge is asked. Raises: BadLabels as `check`."""
    gold = _gold(labels, options)
    if requirements:
        right = JudgeVerdicts(name="", verdicts=dict[str, str | None](gold.labels))
        measures = measure(labels, gold, right, margin=options.margin, epsilon=options.epsilon)
        asked = ("consistency", "first_preference") if labels.scheme.kind == "pairwise" else ()
        check_known(requirements, [*measures.values, "answered", "answered_kappa", "repeats", *asked])


def _gold(labels: Labels, options: Options) -> Gold:
    gold = gold_of(labels, options.adjudicator, each=options.each)
    if not gold.labels:
        raise BadLabels(
            f"{labels.path}: people tie on every item, so none has a label: add a third person, or give --adjudicated"
        )
    return gold


def check(
    labels: Labels,
    judges: Sequence[JudgeVerdicts],
    *,
    requirements: Sequence[Requirement] = (),
    options: Options = DEFAULTS,
) -> CheckResult:
    """Measures and decides. Raises: BadLabels for requirements that do not fit, or without items to measure on."""
    gold = _gold(labels, options)
    required = list(requirements) or default_requirements(labels.scheme)
    found = []
    for judge in judges:
        if judge.asked and (named := {judge.name, *judge.asked.get("models", ())} & set(labels.people)):
            raise BadLabels(
                f"{labels.path}: {min(named)} is a judge here and labelled items as a person: labels of models are no "
                "gold; leave them out, or rename the judge by --judge NAME=SPEC if that is a person"
            )
        measures = measure(labels, gold, judge, margin=options.margin, epsilon=options.epsilon)
        own = required
        if not requirements and "consistency" in measures.values:
            own = [*required, Requirement(measure="consistency", threshold=0.8)]
        decision = decide(labels.scheme, gold, measures, own)
        found.append(CheckedJudge(**vars(judge), decision=decision, measures=measures))
    clusters = {item.id: item.cluster for item in labels.items}
    facts = LabelFacts(
        path=str(labels.path), digest=labels.digest, kind=labels.scheme.kind, answers=labels.scheme.answers,
        items=len(labels.items), pool=len(labels.pool), people=tuple(labels.people),
        labels=sum(len(item.labels) for item in labels.items), classes=gold.counts(labels.scheme),
        clusters=len(set(clusters.values())), contested=gold.contested, columns=labels.columns, notes=labels.notes,
    )  # fmt: skip
    return CheckResult(
        labels=facts, options=options, gold=gold.labels, clusters=clusters, judges=tuple(found),
        differences=tuple(_differences(gold, clusters, judges)),
    )  # fmt: skip


def _differences(gold: Gold, clusters: Mapping[str, str], judges: Sequence[JudgeVerdicts]) -> Iterator[Difference]:
    right = {j.name: {i: float(j.verdicts.get(i) == label) for i, label in gold.labels.items()} for j in judges}
    of = {i: clusters[i] for i in gold.labels}
    pairs = list(combinations(right, 2))
    tests = {(a, b): permutation(right[a], right[b], of) for a, b in pairs}
    adjusted = holm({pair: test.p for pair, test in tests.items()})
    for (a, b), test in tests.items():
        gaps = np.array([right[a][i] - right[b][i] for i in sorted(of)])
        interval = flip_ci(gaps, [of[i] for i in sorted(of)], test)
        yield Difference(a=a, b=b, delta=test.difference, ci95=interval, p=test.p, p_holm=adjusted[a, b])


def disagreements(result: CheckResult, judge: CheckedJudge) -> list[str]:
    """The ids of the items on which a judge and the gold differ: those of stable verdicts first, then by label."""
    wrong = [i for i, label in result.gold.items() if judge.verdicts.get(i) != label]
    return sorted(wrong, key=lambda i: (len(set(judge.repeats.get(i, ()))), result.gold[i], i))
