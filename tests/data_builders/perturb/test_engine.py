"""The engine: different steps and combinations, reproducible pairs, and counted abstentions."""

import math
from collections import Counter, defaultdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturb_factories import ACADEMIC, CASES, LEGAL, MEDICAL, case_of

from data_builders.perturb.pair_checks import check_pair
from data_builders.perturb.rules.engine import USED_UP, Forms, perturb
from data_builders.text_units.edits import Edit, apply_edits
from data_builders.text_units.steps import split_steps
from judge_r1.core.principles import NUMBERS
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.registry import UnknownName


def pairs_of(case: Case, **options: object) -> list[ReasoningPair]:
    return list(perturb(case, abstained=Counter(), **options))  # type: ignore[arg-type]


def step_of(case: Case, pair: ReasoningPair) -> int:
    """The step with the flaw of a single pair: the text before it is unchanged."""
    start = pair.origin.flaws[0].span.start
    return max(step.index for step in split_steps(case.reference) if step.start <= start)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.domain)
def test_a_principle_is_broken_in_different_steps(case: Case) -> None:
    steps_by_violation = defaultdict(list)
    for pair in pairs_of(case, kinds=("single",)):
        steps_by_violation[pair.violated].append(step_of(case, pair))
    assert len(steps_by_violation) >= 2
    for steps in steps_by_violation.values():
        assert len(set(steps)) == len(steps) <= 5
    assert all(check_pair(case, pair) is None for pair in pairs_of(case))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.domain)
def test_multi_pairs_have_different_combinations_in_different_steps(case: Case) -> None:
    pairs = pairs_of(case, kinds=("multi",))
    assert pairs
    assert len({pair.violated for pair in pairs}) == len(pairs)
    for pair in pairs:
        assert 2 <= len(pair.violated) == len(pair.origin.flaws) <= 4
        spans = [flaw.span for flaw in pair.origin.flaws]
        assert all(one.end <= other.start for one, other in pairwise(spans))


def test_same_seed_gives_same_pairs_in_any_order() -> None:
    forward = {case.case_id: pairs_of(case) for case in (MEDICAL, LEGAL, ACADEMIC)}
    backward = {case.case_id: pairs_of(case) for case in (ACADEMIC, LEGAL, MEDICAL)}
    assert forward == backward
    assert pairs_of(MEDICAL, seed=1) != forward[MEDICAL.case_id]


def test_no_form_makes_up_more_than_a_tenth_of_its_set() -> None:
    """Of forty judgments with the same conclusion, rounded up; without the limit all are denied in the same words."""
    text = "{}. There has therefore been a violation of Article 8 by the {} of the town."
    cases = [case_of("legal", f"Facts of case {n}.", text.format(1, f"office number {n}")) for n in range(40)]
    cases += [
        case_of("legal", f"More facts of case {n}.", f"1. The ground was {word}, the Court finds, for case {n}.")
        for n, word in enumerate(
            ["sufficient", "adequate", "proportionate", "reasonable", "convincing", "reliable"] * 5
        )
    ]
    for forms, most in ((None, 40), (Forms(), None)):
        abstained = Counter[str]()
        used: Counter[str] = Counter()
        for case in cases:
            for pair in perturb(case, kinds=("single",), variants=1, abstained=abstained, forms=forms):
                [flaw] = pair.origin.flaws
                used[pair.flawed[flaw.span.start : flaw.span.end]] += pair.violated == (1,)
        assert used["no"] == (most or math.ceil(used.total() / 10))
        assert max(used.values()) <= (most or math.ceil(used.total() / 10))
        assert (abstained[f"P1: {USED_UP}"] > 0) == (forms is not None)


def test_missing_variants_are_counted() -> None:
    abstained: Counter[str] = Counter()
    case = case_of("medical", "Nothing is known.", "- **Aims:**\n- Yes.")
    assert not list(perturb(case, abstained=abstained))
    assert abstained == {**{f"P{n}: no natural place": 5 for n in NUMBERS}, "multi: no further combination fits": 5}


def test_unknown_rule_set_is_named_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean 'text'"):
        pairs_of(MEDICAL, rule_set="texts")


@given(st.text(min_size=1, max_size=40), st.data())
def test_apply_edits_returns_the_span_of_each_replacement(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4)))
    first, second = data.draw(st.text(max_size=5)), data.draw(st.text(min_size=1, max_size=5))
    edits = [Edit(cuts[2], cuts[3], second), Edit(cuts[0], cuts[1], first)]
    if cuts[1] == cuts[2]:
        return
    new, spans = apply_edits(text, edits)
    assert new == text[: cuts[0]] + first + text[cuts[1] : cuts[2]] + second + text[cuts[3] :]
    assert new[spans[0].start : spans[0].end] == second
    assert not first or new[spans[1].start : spans[1].end] == first


def test_overlapping_edits_are_rejected() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abcdef", [Edit(0, 3, "x"), Edit(2, 4, "y")])
