"""The operators of the rule set `mini` break one step, and P2 and P4 relate to the context as they should."""

from collections import Counter
from random import Random

import pytest

from data_builders.perturb.rules.engine import operators, perturb
from data_builders.perturb.rules.operators import Operator
from data_builders.sources.mini import EVENTS, FACT, facts_of, read
from data_builders.text_units.steps import split_steps

RULES = operators("mini")
CASES = list(read(None, 60, 0, Counter()))


@pytest.mark.parametrize("rule", [rule for number in RULES for rule in RULES[number]], ids=lambda rule: rule.name)
def test_an_operator_changes_only_its_step(rule: Operator) -> None:
    fits = 0
    for case in CASES:
        for step in split_steps(case.reference):
            edits = list(rule.apply(case, step, Random(1)))
            assert edits == list(rule.apply(case, step, Random(1))), "an operator is a pure function"
            if not edits:
                continue
            [edit] = edits
            fits += 1
            assert step.start <= edit.start < edit.end <= step.end
            assert "\n" not in edit.replacement
            flawed = case.reference[: edit.start] + edit.replacement + case.reference[edit.end :]
            assert len(flawed.split("\n")) == len(case.reference.split("\n"))
    assert fits >= 10


def test_each_principle_has_three_operators_with_unique_names() -> None:
    assert all(len(rules) >= 3 for rules in RULES.values())
    names = [rule.name for rules in RULES.values() for rule in rules]
    assert len(set(names)) == len(names)


def test_p2_contradicts_the_context_and_p4_adds_to_it() -> None:
    seen: Counter[int] = Counter()
    for case in CASES:
        known = {(fact.who, fact.did): fact.value for fact in facts_of(case.context)}
        for pair in perturb(case, seed=0, kinds=["single"], rule_set="mini", abstained=Counter()):
            [number] = pair.violated
            [flaw] = pair.origin.flaws
            line = next(x for x, y in zip(pair.flawed.split("\n"), pair.reference.split("\n"), strict=True) if x != y)
            claim = FACT.search(line.split(". ", 1)[1])
            assert claim
            value = known.get((claim["who"], claim["did"]))
            if number == 2:
                [span] = flaw.context_spans
                assert case.context[span.start : span.end] == f"{claim['who']} {claim['did']} {value}"
                assert value is not None
                assert value != claim["value"]
                assert claim["value"] in EVENTS[case.domain][claim["did"]]
            elif number == 4:
                assert value is None
                assert not flaw.context_spans
                assert claim["value"] in EVENTS[case.domain][claim["did"]]
            seen[number] += 1
    assert set(seen) == set(range(1, 7))
    assert min(seen.values()) >= 50


def test_each_flaw_of_a_multi_pair_changes_one_line() -> None:
    for case in CASES[:20]:
        for pair in perturb(case, seed=3, kinds=["multi"], rule_set="mini", abstained=Counter()):
            assert len(pair.violated) >= 2
            changed = [x != y for x, y in zip(pair.flawed.split("\n"), pair.reference.split("\n"), strict=True)]
            assert sum(changed) == len(pair.origin.flaws)
