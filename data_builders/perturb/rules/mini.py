"""The rule set `mini`: the same six principles, broken in the generated vocabulary of `data_builders.sources.mini`."""

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


def _register_tail(principle: int, name: str, tail: str) -> None:
    @operator(principle, name, rule_set="mini")
    def swap_inference(case: Case, step: Step, rng: Random) -> Edit | None:
        match = _CLAIM.match(step.text)
        return step.edit(match.span("inference"), tail) if match else None


def _register_advice(principle: int, name: str, advice: str) -> None:
    @operator(principle, name, rule_set="mini")
    def swap_advice(case: Case, step: Step, rng: Random) -> Edit | None:
        match = _ADVICE.match(step.text)
        return step.edit(match.span("advice"), advice.format(**match.groupdict())) if match else None


for _name, _text in NON_SEQUITURS.items():
    _register_tail(1, f"inference_{_name}", _text)
for _name, _text in PREJUDICES.items():
    _register_tail(3, f"prejudice_{_name}", _text)
for _name, _text in VAGUE.items():
    _register_advice(5, f"vague_{_name}", _text)
for _name, _text in HARMFUL.items():
    _register_advice(6, f"harmful_{_name}", _text)


def _kind(values: list[str]) -> str:
    return "number" if values is NUMBERS else "month" if values is MONTHS else "noun"


def _unheard(values: list[str], case: Case) -> list[str]:
    """The values that no fact of the case has; all of them where the facts have every one."""
    heard = {fact.value for fact in facts_of(case.context)}
    return [value for value in values if value not in heard] or values


def _register_value(kind: str) -> None:
    """P2: another value of the same kind; the case's own fact contradicts it."""

    @operator(2, f"other_{kind}", rule_set="mini")
    def change_value(case: Case, step: Step, rng: Random) -> Edit | None:
        match = _CLAIM.match(step.text)
        if not match or _kind(values := EVENTS[case.domain][match["did"]]) != kind:
            return None
        start = case.context.index(f"{match['claim']}.")
        new = rng.choice(_unheard(values, case))
        return step.edit(match.span("value"), new, Span(start=start, end=start + len(match["claim"])))


for _name in ("number", "month", "noun"):
    _register_value(_name)


def _invent(case: Case, step: Step, rng: Random, *, who: bool, did: bool, stranger: bool) -> Edit | None:
    """P4: an event that the case says nothing about; `who` and `did` say which halves of the claim may change."""
    match = _CLAIM.match(step.text)
    if not match:
        return None
    facts = facts_of(case.context)
    known, people = {(fact.who, fact.did) for fact in facts}, {fact.who for fact in facts}
    names = [n for n in NAMES if (n in people) != stranger] if who else [match["who"]]
    events = EVENTS[case.domain]
    free = [(n, d) for n in names for d in (events if did else [match["did"]]) if (n, d) not in known]
    if not free:
        return None
    name, event = rng.choice(free)
    return step.edit(match.span("claim"), str(Fact(name, event, rng.choice(_unheard(events[event], case)))))


@operator(4, "invented_event", rule_set="mini")
def invented_event(case: Case, step: Step, rng: Random) -> Edit | None:
    return _invent(case, step, rng, who=False, did=True, stranger=False)


@operator(4, "wrong_person", rule_set="mini")
def wrong_person(case: Case, step: Step, rng: Random) -> Edit | None:
    return _invent(case, step, rng, who=True, did=False, stranger=False)


@operator(4, "unknown_person", rule_set="mini")
def unknown_person(case: Case, step: Step, rng: Random) -> Edit | None:
    return _invent(case, step, rng, who=True, did=False, stranger=True)
