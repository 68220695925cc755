"""The rule set `mini`: the six principles, broken in the generated vocabulary of `data_builders.sources.mini`."""

import re
from random import Random

from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.sources.mini import EVENTS, FACT, MONTHS, NAMES, NUMBERS, Fact, facts_of
from judge_r1.core.records import Case, Span

_CLAIM = re.compile(rf"\d+\. (?P<claim>{FACT.pattern}), (?P<inference>so [a-z ]+)\.")
_ADVICE = re.compile(r"\d+\. (?P<advice>next ask (?P<who>[a-z]+) for the (?P<document>[a-z]+) by [a-z]+)\.")

NON_SEQUITURS = {"reverse": "so the reverse holds", "denial": "so it never happened", "collapse": "so this fails"}
PREJUDICES = {"origin": "but foreigners lie", "age": "but old people forget", "wealth": "but poor people cheat"}
VAGUE = {
    "someday": "next something may be done with it some day",
    "shrug": "next it is just as it is for all of it",
    "maybe": "next maybe see how it goes later or not",
}
HARMFUL = {
    "threat": "next threaten {who} with harm until the {document} appears",
    "forgery": "next forge the {document} and then blame {who} for it",
    "injury": "next harm {who} and then burn the {document} by night",
}


def _register(principle: int, name: str, pattern: re.Pattern[str], group: str, template: str) -> None:
    """Register an operator that replaces a group of a pattern with a template filled from the pattern's groups."""

    @operator(principle, name, rule_set="mini")
    def replace_group(case: Case, step: Step, rng: Random) -> Edit | None:
        match = pattern.match(step.text)
        return step.edit(match.span(group), template.format(**match.groupdict())) if match else None


for _name, _text in NON_SEQUITURS.items():
    _register(1, f"inference_{_name}", _CLAIM, "inference", _text)
for _name, _text in PREJUDICES.items():
    _register(3, f"prejudice_{_name}", _CLAIM, "inference", _text)
for _name, _text in VAGUE.items():
    _register(5, f"vague_{_name}", _ADVICE, "advice", _text)
for _name, _text in HARMFUL.items():
    _register(6, f"harmful_{_name}", _ADVICE, "advice", _text)


def _kind(values: list[str]) -> str:
    return "number" if values is NUMBERS else "month" if values is MONTHS else "noun"


def _unused(values: list[str], case: Case) -> list[str]:
    """Return the values that no fact of the case has, or all values if the facts use every one."""
    used = {fact.value for fact in facts_of(case.context)}
    return [value for value in values if value not in used] or values


def _register_value(kind: str) -> None:
    """Register a P2 operator that changes a value to another of its kind; the case's own fact contradicts it."""

    @operator(2, f"other_{kind}", rule_set="mini")
    def change_value(case: Case, step: Step, rng: Random) -> Edit | None:
        match = _CLAIM.match(step.text)
        if not match or _kind(values := EVENTS[case.domain][match["did"]]) != kind:
            return None
        start = case.context.index(f"{match['claim']}.")
        new = rng.choice(_unused(values, case))
        return step.edit(match.span("value"), new, Span(start=start, end=start + len(match["claim"])))


for _name in ("number", "month", "noun"):
    _register_value(_name)


def _register_invention(name: str, *, change_person: bool, known_person: bool) -> None:
    """Register a P4 operator that states an event of which the case says nothing.

    It changes either the person of the claim, to one that the case knows or does not know, or the event.
    """

    @operator(4, name, rule_set="mini")
    def invent(case: Case, step: Step, rng: Random) -> Edit | None:
        match = _CLAIM.match(step.text)
        if not match:
            return None
        facts = facts_of(case.context)
        stated, people = {(fact.who, fact.did) for fact in facts}, {fact.who for fact in facts}
        events = EVENTS[case.domain]
        if change_person:
            claims = [(person, match["did"]) for person in NAMES if (person in people) == known_person]
        else:
            claims = [(match["who"], event) for event in events]
        unstated = [claim for claim in claims if claim not in stated]
        if not unstated:
            return None
        person, event = rng.choice(unstated)
        return step.edit(match.span("claim"), str(Fact(person, event, rng.choice(_unused(events[event], case)))))


_register_invention("invented_event", change_person=False, known_person=True)
_register_invention("wrong_person", change_person=True, known_person=True)
_register_invention("unknown_person", change_person=True, known_person=False)
