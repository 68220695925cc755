"""Creates flawed variants that keep the whole set balanced: draws many candidates and lets a selection choose.

A reader that does not know the case then finds little bias in counts, words and likelihoods (see `selection`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil
from random import Random

from data_builders.perturb.rules.edits import CaseEdits
from data_builders.perturb.rules.engine import plan, rules_and_steps, shuffled_combinations
from data_builders.perturb.rules.operators import Operator, Step, seeded_random
from data_builders.perturb.rules.p4_details import ForeignDetails
from data_builders.perturb.rules.selection import STRICT, Candidate, Selection
from judge_r1.core.principles import NUMBERS
from judge_r1.core.records import Case, ReasoningPair

MAX_CANDIDATES, DRAWS, VALUE_DRAWS = 120, 20 / 3, 20
"""Candidates kept per principle by default, edits drawn for each of them, and those of P2: a number has many others."""
VALUES = frozenset(("other_number", "other_date", "other_name"))
"""What P2 changes in generated cases. Their sentences repeat, so a reader would know one with another word."""
LAST_RESORT = "opposite_attribute"
"""A rule of P2 whose flaws the text may show: for steps that the others leave, if they change too few steps."""
STRICT_FACTOR = 3
"""How many more candidates P2 and P4 need, whose limits are narrow, where fewer than the default are kept."""
MULTI_DRAWS, COMBINATIONS = 3, 2
"""Plans drawn per combination of principles by default, and combinations drawn per wanted variant."""


def perturb_balanced(
    case: Case,
    *,
    selection: Selection,
    foreign: ForeignDetails | None = None,
    kinds: Sequence[str] = ("single", "multi"),
    variants: int = 5,
    seed: int = 0,
    rule_set: str = "text",
    most: int = MAX_CANDIDATES,
    abstained: Counter[str],
) -> Iterator[ReasoningPair]:
    """Yield up to `variants` single pairs per principle, then up to `variants` multi pairs, as `selection` chooses.

    It chooses among up to `most` candidates of a principle.

    The pairs depend on the cases that the selection has seen before. `abstained` counts the variants that cannot be
    made, by principle and reason.
    """
    drawn = draw_candidates(
        case,
        foreign=foreign,
        repeating=selection.repeating,
        kinds=kinds,
        variants=variants,
        seed=seed,
        rule_set=rule_set,
        most=most,
    )
    abstained.update(drawn.abstained)
    selection.compare_statements(selection.statements_of(case), drawn.candidates)
    selection.measure(case.reference, drawn.candidates)
    yield from choose_balanced(drawn.candidates, variants, selection, abstained)


@dataclass(frozen=True)
class DrawnFlaws:
    """Candidates of one case, by principle or `multi`. `abstained` counts those that a check rejected."""

    candidates: dict[str, list[Candidate]]
    abstained: Counter[str]


def draw_candidates(
    case: Case,
    *,
    foreign: ForeignDetails | None,
    repeating: bool,
    kinds: Sequence[str],
    variants: int,
    seed: int,
    rule_set: str,
    most: int,
) -> DrawnFlaws:
    """Draw candidates of each principle, and with several flaws. They depend on the case and `foreign` alone."""
    by_principle, steps = rules_and_steps(case, rule_set, foreign)
    every = by_principle[2]
    p2 = [rule for rule in every if (rule.name in VALUES if repeating else rule.name != LAST_RESORT)]
    by_principle = by_principle | {2: p2}
    drawn, abstained = dict[str, list[Candidate]](), Counter[str]()
    for number in NUMBERS if "single" in kinds else ():
        kept = _kept(number, most)
        found = _single_candidates(case, steps, by_principle[number], seed, kept, abstained)
        changed = {candidate.place for candidate in found}
        if number == 2 and not repeating and len(changed) < variants:
            free = [step for step in steps if step.index not in changed]
            last = [rule for rule in every if rule.name == LAST_RESORT]
            found += _single_candidates(case, free, last, seed, kept, abstained)
        drawn[f"P{number}"] = found
    if "multi" in kinds:
        plans = max(1, MULTI_DRAWS * most // MAX_CANDIDATES)
        drawn["multi"] = _multi_candidates(case, steps, by_principle, variants, seed, plans, abstained)
    return DrawnFlaws(drawn, abstained)


def choose_balanced(
    drawn: Mapping[str, Sequence[Candidate]], variants: int, selection: Selection, abstained: Counter[str]
) -> Iterator[ReasoningPair]:
    """Yield up to `variants` pairs of each kind. The candidates have been measured and compared."""
    for name, candidates in drawn.items():
        yield from _chosen(name, candidates, variants, selection, abstained)


def _kept(number: int, most: int) -> int:
    return max(most, min(MAX_CANDIDATES, STRICT_FACTOR * most)) if (number,) in STRICT else most


def _single_candidates(
    case: Case, steps: list[Step], rules: list[Operator], seed: int, most: int, abstained: Counter[str]
) -> list[Candidate]:
    """Draw candidates of one principle. Those of one step exclude each other."""
    number = rules[0].principle if rules else 0
    edits, found = CaseEdits(case, seed), dict[str, Candidate]()
    draws = ceil(most * (VALUE_DRAWS if number == 2 else DRAWS) / max(1, len(rules) * len(steps)))
    places = [(rule, step, f"single{draw or ''}") for draw in range(draws) for rule in rules for step in steps]
    for rule, step, salt in seeded_random(case, seed, number).sample(places, len(places)):
        if len(found) == most:
            break
        edit = edits.edit(rule, step, salt)
        pair = edits.pair([(rule, step, edit)], 1) if edit else None
        if pair is not None:
            found.setdefault(pair.flawed, Candidate(pair, step.index, (rule.name,)))
    _count_rejected(edits, f"P{number}", abstained)
    return list(found.values())


def _multi_candidates(
    case: Case,
    steps: list[Step],
    rules: dict[int, list[Operator]],
    variants: int,
    seed: int,
    draws: int,
    abstained: Counter[str],
) -> list[Candidate]:
    """Draw candidates that break two to four principles. Those of one combination exclude each other."""
    rng = seeded_random(case, seed, "multi")
    edits, used = CaseEdits(case, seed), Counter[str]()
    drawn = (_plans(edits, steps, combination, rules, rng, used, draws) for combination in shuffled_combinations(rng))
    candidates = [c for found in islice(filter(None, drawn), COMBINATIONS * variants) for c in found]
    _count_rejected(edits, "multi", abstained)
    return candidates


def _plans(
    edits: CaseEdits,
    steps: list[Step],
    combination: tuple[int, ...],
    rules: dict[int, list[Operator]],
    rng: Random,
    used: Counter[str],
    draws: int,
) -> list[Candidate]:
    """Draw candidates of one combination of principles. `used` counts the operators."""
    found: dict[str, Candidate] = {}
    for draw in range(draws):
        salt = f"multi{''.join(map(str, combination))}{draw or ''}"
        planned = plan(edits, steps, [rules[number] for number in combination], salt, rng, used)
        pair = edits.pair(planned, 1) if planned else None
        if pair is not None:
            names = tuple(rule.name for rule, _, _ in planned)
            used.update(names)
            found.setdefault(pair.flawed, Candidate(pair, combination, names))
    return list(found.values())


def _chosen(
    name: str, candidates: Sequence[Candidate], variants: int, selection: Selection, abstained: Counter[str]
) -> Iterator[ReasoningPair]:
    """Yield up to `variants` pairs. The least used operators are preferred, and the last resort comes last."""
    used: Counter[str] = Counter()
    free = list(candidates)
    for variant in range(1, variants + 1):
        first = [candidate for candidate in free if LAST_RESORT not in candidate.operators]
        chosen = selection.choose(first, used) or selection.choose(free, used)
        if chosen is None:
            reason = "no candidate keeps the set balanced" if free else "no operator fits a free step"
            abstained[f"{name}: {reason}"] += variants - variant + 1
            return
        used.update(chosen.operators)
        free = [candidate for candidate in free if candidate.place != chosen.place]
        yield chosen.pair.model_copy(update={"variant": variant})


def _count_rejected(edits: CaseEdits, name: str, abstained: Counter[str]) -> None:
    for reason, count in sorted(edits.rejected.items()):
        abstained[f"{name}: rejected: {reason}"] += count
