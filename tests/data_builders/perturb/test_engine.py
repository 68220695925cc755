"""The engine: different steps and combinations, reproducible pairs, and counted abstentions."""

from collections import Counter, defaultdict
from itertools import chain, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturb_factories import CASES, CITED_ACADEMIC, CITED_LEGAL, CITED_MEDICAL, MEDICAL, case_of

from data_builders.perturb.pair_checks import MAX_LENGTH_RATIO, MIN_LENGTH_RATIO
from data_builders.perturb.rules.edits import CaseEdits, apply_edits
from data_builders.perturb.rules.engine import operators, perturb, rules_and_steps
from data_builders.perturb.rules.operators import Edit
from data_builders.perturb.rules.steps import split_steps
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
def test_every_principle_is_broken_in_different_steps(case: Case) -> None:
    steps_by_violation = defaultdict(list)
    for pair in pairs_of(case, kinds=("single",)):
        steps_by_violation[pair.violated].append(step_of(case, pair))
    assert set(steps_by_violation) == {(n,) for n in NUMBERS}
    for steps in steps_by_violation.values():
        assert len(set(steps)) == len(steps) <= 5
    assert len(steps_by_violation[(5,)]) == 5


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.domain)
def test_multi_pairs_have_different_combinations_in_different_steps(case: Case) -> None:
    pairs = pairs_of(case, kinds=("multi",))
    assert len(pairs) == 5
    assert len({pair.violated for pair in pairs}) == 5
    for pair in pairs:
        assert 2 <= len(pair.violated) == len(pair.origin.flaws) <= 4
        spans = [flaw.span for flaw in pair.origin.flaws]
        assert all(one.end <= other.start for one, other in pairwise(spans))


def test_length_stays_close_to_the_reference() -> None:
    ratios = [len(pair.flawed) / len(pair.reference) for case in CASES for pair in pairs_of(case)]
    assert all(MIN_LENGTH_RATIO <= ratio <= MAX_LENGTH_RATIO for ratio in ratios)
    assert any(ratio < 1 for ratio in ratios)
    assert any(ratio > 1 for ratio in ratios)


def test_operators_of_a_principle_alternate() -> None:
    counts = Counter(
        flaw.operator for case in CASES for pair in pairs_of(case, kinds=("single",)) for flaw in pair.origin.flaws
    )
    assert sum(counts[rule.name] > 0 for rule in operators("text")[5]) >= 4


def test_same_seed_gives_same_pairs_in_any_order() -> None:
    forward = {case.case_id: pairs_of(case) for case in (CITED_MEDICAL, CITED_LEGAL, CITED_ACADEMIC)}
    backward = {case.case_id: pairs_of(case) for case in (CITED_ACADEMIC, CITED_LEGAL, CITED_MEDICAL)}
    assert forward == backward
    assert pairs_of(CITED_MEDICAL, seed=1) != forward[CITED_MEDICAL.case_id]


def test_kinds_are_independent() -> None:
    both = pairs_of(CITED_MEDICAL)
    assert [p for p in both if p.kind == "single"] == pairs_of(CITED_MEDICAL, kinds=("single",))
    assert [p for p in both if p.kind == "multi"] == pairs_of(CITED_MEDICAL, kinds=("multi",))


def test_fewer_variants_are_the_first_ones() -> None:
    first = [pair for pair in pairs_of(CITED_MEDICAL, kinds=("single",)) if pair.variant == 1]
    assert pairs_of(CITED_MEDICAL, kinds=("single",), variants=1) == first


def test_missing_variants_are_counted() -> None:
    abstained: Counter[str] = Counter()
    case = case_of("medical", "Nothing is known.", "- **Aims:**\n- Yes.")
    assert not list(perturb(case, abstained=abstained))
    assert abstained == {**{f"P{n}: no operator fits": 5 for n in NUMBERS}, "multi: no further combination fits": 5}


def test_p4_needs_a_statement() -> None:
    abstained: Counter[str] = Counter()
    plain = case_of("medical", "Nothing is known.", MEDICAL.reference)
    assert (4,) not in {pair.violated for pair in perturb(plain, kinds=("single",), abstained=abstained)}
    assert abstained["P4: no operator fits"] == 5


def test_only_p2_edits_citations_only_p4_statements_and_a_remark_is_replaced_whole_or_not_at_all() -> None:
    """An edit of another principle inside a citation or statement would change what the case says, which is P2."""
    touched: Counter[int] = Counter()
    for case in CASES:
        edits, (rules, steps) = CaseEdits(case, 0), rules_and_steps(case, "text", None)
        for rule, step, salt in product(chain.from_iterable(rules.values()), steps, "abcd"):
            edit = edits.edit(rule, step, salt)
            if edit is None:
                continue
            start, end = edit.start - step.start, edit.end - step.start
            cited = [c for c in step.citations if c.whole[0] < end and start < c.whole[1]]
            remarks = [(a, b) for a, b in step.remarks if a < end and start < b]
            statements = [(a, b) for a, b, _ in step.statements if a < end and start < b]
            assert bool(cited) == (rule.principle == 2)
            assert bool(statements) == (rule.principle == 4)
            assert all(part == (start, end) for part in (*remarks, *statements))
            touched[rule.principle] += len(cited) + len(remarks) + len(statements)
            assert all(citation.start <= start <= end <= citation.end for citation in cited)
    assert set(touched) == set(NUMBERS)
    assert min(touched.values()) > 0


def test_unknown_rule_set_is_named_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean 'text'"):
        pairs_of(CITED_MEDICAL, rule_set="texts")


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
