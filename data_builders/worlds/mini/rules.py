"""The rule set `mini`: the six principles, broken in a generated vocabulary. `haystack` has the same with its words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from data_builders.perturb.rules.operators import operator
from data_builders.text_units.edits import Edit
from data_builders.text_units.steps import Step
from data_builders.worlds.mini.source import EVENTS, FACT, WORDS, Fact, MiniWords, facts_of
from judge_r1.core.records import Case, Span

_CLAIM = re.compile(rf"\d+\. (?P<claim>{FACT.pattern}), (?P<inference>so [a-z ]+)\.")
_ADVICE = re.compile(r"\d+\. (?P<advice>next ask (?P<who>[A-Za-z]+) for the (?P<document>[a-z]+) by [a-z]+)\.")
Events = Mapping[str, Mapping[str, Sequence[str]]]
"""Domain → event → values."""


def _register_template(
    rule_set: str, principle: int, name: str, pattern: re.Pattern[str], group: str, template: str
) -> None:
    """Register an operator that replaces a group of a pattern with a template filled from the pattern's groups."""

    @operator(principle, name, rule_set=rule_set)
    def replace_group(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
        match = pattern.match(step.text)
        if match:
            yield step.edit(match.span(group), template.format(**match.groupdict()))


def _unused(values: Sequence[str], case: Case) -> Sequence[str]:
    """Return the values that no fact of the case has, or all values if the facts use every one."""
    used = {fact.value for fact in facts_of(case.context)}
    return [value for value in values if value not in used] or values


def _register_value(rule_set: str, words: MiniWords, all_events: Events, name: str, kinds: Sequence[str]) -> None:
    """Register a P2 operator that changes a value of these kinds to another; the case's own fact contradicts it."""

    @operator(2, f"other_{name}", rule_set=rule_set)
    def change_value(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
        match = _CLAIM.match(step.text)
        if not match or words.events[case.domain][match["did"]] not in kinds:
            return
        start = case.context.index(f"{match['claim']}.")
        new = rng.choice(_unused(all_events[case.domain][match["did"]], case))
        yield step.edit(match.span("value"), new, Span(start=start, end=start + len(match["claim"])))


def _register_invention(
    rule_set: str, words: MiniWords, all_events: Events, name: str, *, change_person: bool, known_person: bool
) -> None:
    """Register a P4 operator that states an event of which the case says nothing.

    It changes either the person of the claim, to one that the case knows or does not know, or the event.
    """

    @operator(4, name, rule_set=rule_set)
    def invent(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
        match = _CLAIM.match(step.text)
        if not match:
            return
        facts = facts_of(case.context)
        stated, people = {(fact.who, fact.did) for fact in facts}, {fact.who for fact in facts}
        events = all_events[case.domain]
        if change_person:
            claims = [(person, match["did"]) for person in words.names if (person in people) == known_person]
        else:
            claims = [(match["who"], event) for event in events]
        unstated = [claim for claim in claims if claim not in stated]
        if not unstated:
            return
        person, event = rng.choice(unstated)
        yield step.edit(match.span("claim"), str(Fact(person, event, rng.choice(_unused(events[event], case)))))


def register_rules(rule_set: str, words: MiniWords, events: Events, *, change_people: bool) -> None:
    """Registers a rule set for a vocabulary. `change_people` allows claims about another person (P4)."""
    for principle, prefix, pattern, group, templates in (
        (1, "inference", _CLAIM, "inference", words.non_sequiturs),
        (3, "prejudice", _CLAIM, "inference", words.prejudices),
        (5, "vague", _ADVICE, "advice", words.vague),
        (6, "harmful", _ADVICE, "advice", words.harmful),
    ):
        for name, template in templates.items():
            _register_template(rule_set, principle, f"{prefix}_{name}", pattern, group, template)
    _register_value(rule_set, words, events, "number", ["number"])
    _register_value(rule_set, words, events, "month", ["month"])
    _register_value(rule_set, words, events, "noun", ["place", "drug", "method"])
    _register_invention(rule_set, words, events, "invented_event", change_person=False, known_person=True)
    if change_people:
        _register_invention(rule_set, words, events, "wrong_person", change_person=True, known_person=True)
        _register_invention(rule_set, words, events, "unknown_person", change_person=True, known_person=False)


register_rules("mini", WORDS, EVENTS, change_people=True)
