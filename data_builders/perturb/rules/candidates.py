"""Draws the flaws that rules find in one case: every edit of every operator, and combinations of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from data_builders.perturb.rules.edits import CaseEdits, PlannedEdit
from data_builders.perturb.rules.engine import operators, shuffled_combinations
from data_builders.perturb.rules.operators import seeded_random
from data_builders.text_units.steps import split_steps
from judge_r1.core.principles import NUMBERS
from judge_r1.core.records import Case, ReasoningPair

MULTI_DRAWS, COMBINATIONS = 2, 2
"""Plans drawn per combination of principles, and combinations drawn per wanted variant."""


@dataclass(frozen=True)
class DrawnFlaws:
    """Flawed variants of one case, by principle or `multi`. `rejected` counts those that a check rejected."""

    pairs: dict[str, list[ReasoningPair]]
    rejected: Counter[str]


def draw_flaws(
    case: Case, *, kinds: Sequence[str], variants: int, seed: int, most: int, rule_set: str = "text"
) -> DrawnFlaws:
    """Draw up to `most` variants of each principle, and some with several flaws. They depend on the case alone."""
    edits, steps = CaseEdits(case, seed), split_steps(case.reference)
    places = {
        number: [(rule, step, edit) for rule in rules for step in steps for edit in edits.edits(rule, step, "single")]
        for number, rules in operators(rule_set).items()
    }
    drawn, rejected = dict[str, list[ReasoningPair]](), Counter[str]()
    for number in NUMBERS if "single" in kinds else ():
        order = seeded_random(case, seed, number).sample(places[number], len(places[number]))
        drawn[f"P{number}"] = _built(edits, [[one] for one in order], most)
        rejected += edits.take_rejected(f"P{number}")
    if "multi" in kinds:
        drawn["multi"] = _built(edits, _plans(case, places, variants, seed), most)
        rejected += edits.take_rejected("multi")
    return DrawnFlaws(drawn, rejected)


def _built(edits: CaseEdits, plans: Sequence[Sequence[PlannedEdit]], most: int) -> list[ReasoningPair]:
    found: dict[str, ReasoningPair] = {}
    for planned in plans:
        if len(found) < most and (pair := edits.pair(planned, 1)):
            found.setdefault(pair.flawed, pair)
    return list(found.values())


def _plans(
    case: Case, places: Mapping[int, Sequence[PlannedEdit]], variants: int, seed: int
) -> list[list[PlannedEdit]]:
    """Draw edits that break two to four principles in as many steps, up to `MULTI_DRAWS` for each combination."""
    rng = seeded_random(case, seed, "multi")

    def plan(combination: tuple[int, ...]) -> list[PlannedEdit]:
        planned: list[PlannedEdit] = []
        for number in sorted(combination, key=lambda number: len(places[number])):
            taken = {step.index for _, step, _ in planned}
            free = [one for one in places[number] if one[1].index not in taken]
            if not free:
                return []
            planned.append(rng.choice(free))
        return planned

    drawn = ([plan(combination) for _ in range(MULTI_DRAWS)] for combination in shuffled_combinations(rng))
    return [planned for found in islice(filter(all, drawn), COMBINATIONS * variants) for planned in found]
