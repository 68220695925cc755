"""Creates flawed variants of a case with rules: operators are tried at steps of the reference, without a model.

The single variants of a principle change different steps. A multi variant breaks two to four principles in as many
steps, and no two of a case break the same combination (LRBench, section 2.3 and appendix E). Random generators are
seeded by (case, seed, principle), so a variant depends on other cases only through `Forms`.
"""

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from random import Random

import data_builders.perturb.rules
from data_builders.perturb.rules.edits import SINGLE, CaseEdits, PlannedEdit
from data_builders.perturb.rules.forms import Forms
from data_builders.perturb.rules.operators import OPERATORS, Operator, seeded_random
from data_builders.text_units.steps import Step, split_steps
from judge_r1.core.principles import NUMBERS
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.registry import UnknownName, suggest

USED_UP = "the words of other places make up a tenth of the set"


@cache
def operators(rule_set: str) -> dict[int, list[Operator]]:
    """Return the operators of a rule set by principle. Imports every module of this package, so that all register."""
    for module in pkgutil.iter_modules(data_builders.perturb.rules.__path__):
        importlib.import_module(f"{data_builders.perturb.rules.__name__}.{module.name}")
    if rule_set not in OPERATORS:
        raise UnknownName(f"no rule set is named {rule_set!r}{suggest(rule_set, OPERATORS)}")
    return {number: [o for o in OPERATORS[rule_set] if o.principle == number] for number in NUMBERS}


def perturb(
    case: Case,
    *,
    kinds: Sequence[str] = ("single", "multi"),
    variants: int = 5,
    seed: int = 0,
    rule_set: str = "text",
    abstained: Counter[str],
    forms: Forms | None = None,
) -> Iterator[ReasoningPair]:
    """Yield up to `variants` single pairs per principle, then up to `variants` multi pairs.

    `abstained` counts the variants that cannot be made, by principle and reason. `forms` limits how often the same
    words are used in all cases that share it.
    """
    by_principle, steps, edits = operators(rule_set), split_steps(case.reference), CaseEdits(case, seed, forms)
    if "single" in kinds:
        for number in NUMBERS:
            yield from _single_pairs(edits, steps, by_principle[number], number, variants, abstained)
    if "multi" in kinds:
        yield from _multi_pairs(edits, steps, by_principle, variants, abstained)


def _single_pairs(
    edits: CaseEdits, steps: list[Step], rules: list[Operator], number: int, variants: int, abstained: Counter[str]
) -> Iterator[ReasoningPair]:
    """Yield variants of one principle at different steps. The least used operator is tried first."""
    rng = seeded_random(edits.case, edits.seed, number)
    shuffled_rules, free = rng.sample(rules, len(rules)), rng.sample(steps, len(steps))
    used: Counter[str] = Counter()
    tried: set[tuple[str, int]] = set()
    for variant in range(1, variants + 1):
        found: tuple[ReasoningPair, Operator, Step] | None = None
        for rule, step in ((r, s) for r in sorted(shuffled_rules, key=lambda r: used[r.name]) for s in free):
            if (rule.name, step.index) in tried:
                continue
            tried.add((rule.name, step.index))
            tries = (edits.pair([(rule, step, edit)], variant) for edit in edits.edits(rule, step, SINGLE))
            pair = next(filter(None, tries), None)
            if pair is not None:
                found = pair, rule, step
                break
        if found is None:
            used_up = (SINGLE, number) in edits.used_up
            abstained[f"P{number}: {USED_UP if used_up else 'no natural place'}"] += variants - variant + 1
            break
        used[found[1].name] += 1
        free.remove(found[2])
        yield found[0]
    abstained.update(edits.take_rejected(f"P{number}"))


def _multi_pairs(
    edits: CaseEdits, steps: list[Step], rules: dict[int, list[Operator]], variants: int, abstained: Counter[str]
) -> Iterator[ReasoningPair]:
    """Yield variants with different combinations of two to four principles, each flaw in a different step."""
    rng = seeded_random(edits.case, edits.seed, "multi")
    used: Counter[str] = Counter()
    count = 0
    for combination in shuffled_combinations(rng):
        if count == variants:
            break
        salt = "multi" + "".join(map(str, combination))
        planned = plan(edits, steps, [rules[n] for n in combination], salt, rng, used)
        pair = edits.pair(planned, count + 1) if planned else None
        if pair is not None:
            count += 1
            used.update(rule.name for rule, _, _ in planned)
            yield pair
    if count < variants:
        abstained["multi: no further combination fits"] += variants - count
    abstained.update(edits.take_rejected("multi"))


def shuffled_combinations(rng: Random) -> list[tuple[int, ...]]:
    """Return all sets of two to four principles in a weighted random order that favours small sets."""
    weights = {2: 3 / 15, 3: 2 / 20, 4: 1 / 15}
    sets = [combination for size in weights for combination in combinations(NUMBERS, size)]
    # The order of these keys is a weighted draw without replacement (Efraimidis and Spirakis, 2006).
    keys = {combination: rng.random() ** (1 / weights[len(combination)]) for combination in sets}
    return sorted(sets, key=lambda combination: -keys[combination])


def plan(
    edits: CaseEdits, steps: list[Step], wanted: list[list[Operator]], salt: str, rng: Random, used: Counter[str]
) -> list[PlannedEdit]:
    """Assign an operator and a step to each principle; return nothing if one finds none.

    P2 and P4 choose first, because their operators fit the fewest steps.
    """
    free = rng.sample(steps, len(steps))
    planned: list[PlannedEdit] = []
    for rules in sorted(wanted, key=lambda rules: bool(rules) and rules[0].principle not in (2, 4)):
        order = sorted(rng.sample(rules, len(rules)), key=lambda rule: used[rule.name])
        fits = ((r, s, edit) for r in order for s in free if (edit := edits.edit(r, s, salt)) is not None)
        found = next(fits, None)
        if found is None:
            return []
        free.remove(found[1])
        planned.append(found)
    return planned
