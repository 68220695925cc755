"""What readers find in the candidates of a build and in the chosen ones, for build.json."""

import pytest
from factories import make_case

from data_builders.audit import shortcuts
from data_builders.audit.shortcuts import SelectionAudit
from data_builders.perturb.selection import Candidate, measure
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span

STEPS = 5


def candidates(case: Case) -> list[Candidate]:
    """One in each step: the first four have more words than the reference, the last one has fewer."""
    lines = case.reference.split("\n")
    pairs = []
    for number in range(STEPS):
        longer, shorter = f"{lines[number]} So all is well.", lines[number].removesuffix(" at noon.") + "."
        flawed = "\n".join([*lines[:number], longer if number < STEPS - 1 else shorter, *lines[number + 1 :]])
        flaw = Flaw(principle=2, operator="teacher", span=Span(start=0, end=len(flawed)))
        origin = Origin(teacher="chat:toy", seed=0, prompt_hash="x" * 16, flaws=(flaw,))
        pairs.append(ReasoningPair.of(case, flawed, variant=number + 1, origin=origin, seed=0))
    return measure(pairs)


def audit(cases: int) -> SelectionAudit:
    found = SelectionAudit()
    for number in range(cases):
        lines = [f"{step}. The patient {number} had finding {step} at noon." for step in range(1, STEPS + 1)]
        case = make_case(f"Patient {number}.", reference="\n".join(lines))
        drawn = candidates(case)
        found.add(case, drawn, [drawn[0].pair, drawn[-1].pair])
    return found


def test_the_strongest_readers_of_candidates_and_of_chosen_pairs() -> None:
    entry = audit(12).as_dict(seed=0)
    assert (entry["cases"], list(entry["before"]), list(entry["after"])) == (12, ["P2"], ["P2"])
    before, after = entry["before"]["P2"], entry["after"]["P2"]
    assert (before["pairs"], after["pairs"]) == (12 * STEPS, 12 * 2)
    assert list(before) == list(after) == ["pairs", "length", "words"]
    assert before["length"]["accuracy"] >= 0.9  # four of five have more words, and more different ones


@pytest.mark.parametrize("cases", [0, 3])
def test_few_cases_are_counted_and_not_read(cases: int) -> None:
    assert audit(cases).as_dict(seed=0) == {"cases": cases, "before": {}, "after": {}}


def test_later_cases_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortcuts, "MAX_CASES", 2)
    assert audit(3).as_dict(seed=0)["cases"] == 2
