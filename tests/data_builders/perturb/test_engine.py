"""The engine: distinct places, different combinations, the same bytes in any order, and counted abstentions."""

from collections import Counter, defaultdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturb_factories import ACADEMIC, CASES, LEGAL, MEDICAL, case_of

from data_builders.perturb.pair_checks import LONGEST, SHORTEST
from data_builders.perturb.rules.engine import apply, operators, perturb
from data_builders.perturb.rules.operators import Edit
from data_builders.perturb.rules.steps import split_steps
from judge_r1.core.principles import NUMBERS
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.registry import UnknownName


def made(case: Case, **options: object) -> list[ReasoningPair]:
    return list(perturb(case, abstained=Counter(), **options))  # type: ignore[arg-type]


def step_of(case: Case, pair: ReasoningPair) -> int:
    """The step in which the flaw of a single pair stands: the reference is the same before it."""
    start = pair.origin.flaws[0].span.start
    return max(step.index for step in split_steps(case.reference) if step.start <= start)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.domain)
def test_all_principles_are_broken_and_no_step_twice_for_one(case: Case) -> None:
    places = defaultdict(list)
    for pair in made(case, kinds=("single",)):
        places[pair.violated].append(step_of(case, pair))
    assert set(places) == {(n,) for n in NUMBERS}
    for steps in places.values():
        assert len(set(steps)) == len(steps) <= 5
    assert len(places[(5,)]) == 5


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.domain)
def test_multi_pairs_have_different_combinations_in_different_steps(case: Case) -> None:
    pairs = made(case, kinds=("multi",))
    assert len(pairs) == 5
    assert len({pair.violated for pair in pairs}) == 5
    for pair in pairs:
        assert 2 <= len(pair.violated) == len(pair.origin.flaws) <= 4
        spans = [flaw.span for flaw in pair.origin.flaws]
        assert all(one.end <= other.start for one, other in pairwise(spans))


def test_length_stays_near_the_reference() -> None:
    ratios = [len(pair.flawed) / len(pair.reference) for case in CASES for pair in made(case)]
    assert all(SHORTEST <= ratio <= LONGEST for ratio in ratios)
    assert any(ratio < 1 for ratio in ratios)
    assert any(ratio > 1 for ratio in ratios)


def test_operators_of_a_principle_take_turns() -> None:
    counts = Counter(
        flaw.operator for case in CASES for pair in made(case, kinds=("single",)) for flaw in pair.origin.flaws
    )
    assert sum(counts[rule.name] > 0 for rule in operators("text")[5]) >= 4


def test_same_seed_same_pairs_in_any_order() -> None:
    forward = {case.case_id: made(case) for case in (MEDICAL, LEGAL, ACADEMIC)}
    backward = {case.case_id: made(case) for case in (ACADEMIC, LEGAL, MEDICAL)}
    assert forward == backward
    assert made(MEDICAL, seed=1) != forward[MEDICAL.case_id]


def test_kinds_do_not_change_each_other() -> None:
    both = made(MEDICAL)
    assert [p for p in both if p.kind == "single"] == made(MEDICAL, kinds=("single",))
    assert [p for p in both if p.kind == "multi"] == made(MEDICAL, kinds=("multi",))


def test_fewer_variants_are_the_first_ones() -> None:
    first = [pair for pair in made(MEDICAL, kinds=("single",)) if pair.variant == 1]
    assert made(MEDICAL, kinds=("single",), variants=1) == first


def test_what_does_not_fit_is_counted() -> None:
    abstained: Counter[str] = Counter()
    case = case_of("medical", "Nothing is known.", "- **Aims:**\n- Yes.")
    assert not list(perturb(case, abstained=abstained))
    assert abstained == {**{f"P{n}: no operator fits": 5 for n in NUMBERS}, "multi: no further combination fits": 5}


def test_unknown_rule_set_is_named_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean 'text'"):
        made(MEDICAL, rule_set="texts")


@given(st.text(min_size=1, max_size=40), st.data())
def test_apply_marks_each_replacement(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4)))
    first, second = data.draw(st.text(max_size=5)), data.draw(st.text(min_size=1, max_size=5))
    edits = [Edit(cuts[2], cuts[3], second), Edit(cuts[0], cuts[1], first)]
    if cuts[1] == cuts[2]:
        return
    new, spans = apply(text, edits)
    assert new == text[: cuts[0]] + first + text[cuts[1] : cuts[2]] + second + text[cuts[3] :]
    assert new[spans[0].start : spans[0].end] == second
    assert not first or new[spans[1].start : spans[1].end] == first


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply("abcdef", [Edit(0, 3, "x"), Edit(2, 4, "y")])
