"""Flawed variants of a case by rules alone: no model, only operators, each tried at each step.

Single variants break one principle, each at a step of its own; multi variants combine two to four principles in as
many steps, no two of them the same combination (LRBench, section 2.3 and appendix E). All chance comes from generators
seeded by (case, seed, principle), so a variant never depends on other cases or on the order of a run.
"""

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

import data_builders.perturb
from data_builders.perturb.check import check_pair
from data_builders.perturb.clauses import balanced
from data_builders.perturb.operators import OPERATORS, Edit, Operator, Step
from data_builders.perturb.steps import split_steps
from judge_r1.principles import NUMBERS
from judge_r1.records import Case, Flaw, Origin, ReasoningPair, Span, content_hash
from judge_r1.registry import UnknownName, suggest

TEACHER = "rules"
Placed = tuple[Operator, Step, Edit]


def operators(rule_set: str) -> dict[int, list[Operator]]:
    """The operators of a rule set by principle; every module of this package may register some."""
    for module in pkgutil.iter_modules(data_builders.perturb.__path__):
        importlib.import_module(f"{data_builders.perturb.__name__}.{module.name}")
    if rule_set not in OPERATORS:
        raise UnknownName(f"no rule set is called {rule_set!r}{suggest(rule_set, OPERATORS)}")
    return {number: [o for o in OPERATORS[rule_set] if o.principle == number] for number in NUMBERS}


def perturb(
    case: Case,
    *,
    kinds: Sequence[str] = ("single", "multi"),
    variants: int = 5,
    seed: int = 0,
    rule_set: str = "text",
    abstained: Counter[str],
) -> Iterator[ReasoningPair]:
    """Up to `variants` single pairs for each principle, and up to `variants` multi pairs.

    What cannot be made is counted in `abstained`, by principle and reason.
    """
    by_principle = operators(rule_set)
    steps = split_steps(case.reference)
    if "single" in kinds:
        for number in NUMBERS:
            yield from _singles(case, steps, by_principle[number], number, variants, seed, abstained)
    if "multi" in kinds:
        yield from _multis(case, steps, by_principle, variants, seed, abstained)


def chance(case: Case, seed: int, *parts: str | int) -> Random:
    """The generator of one decision: the same for the same case, seed and parts, wherever and whenever it is made."""
    return Random(int(content_hash(case.case_id, seed, *parts), 16))


def apply(text: str, edits: Sequence[Edit]) -> tuple[str, list[Span]]:
    """The text with the edits made, and the span of each replacement in it, in the order of `edits`.

    A replacement without a character is marked by the character before it.
    """
    spans: dict[int, Span] = {}
    parts, behind, length = [], 0, 0
    for at, edit in sorted(enumerate(edits), key=lambda entry: entry[1].start):
        if edit.start < behind:
            raise ValueError(f"two edits overlap at character {edit.start} of the reference")
        parts += [text[behind : edit.start], edit.replacement]
        length += edit.start - behind
        start = length if edit.replacement else max(0, length - 1)
        length += len(edit.replacement)
        spans[at] = Span(start=start, end=max(length, start + 1))
        behind = edit.end
    return "".join([*parts, text[behind:]]), [spans[at] for at in range(len(edits))]


def _singles(
    case: Case, steps: list[Step], rules: list[Operator], number: int, variants: int, seed: int, abstained: Counter[str]
) -> Iterator[ReasoningPair]:
    """Variants of one principle at distinct steps; the operator used least so far is tried first."""
    rng = chance(case, seed, number)
    rotation = rng.sample(rules, len(rules))
    used: Counter[str] = Counter()
    free = rng.sample(steps, len(steps))
    rejected: Counter[str] = Counter()
    for variant in range(1, variants + 1):
        pair, step = None, None
        for rule in sorted(rotation, key=lambda o: used[o.name]):
            for step in free:
                pair = _attempt(case, [(rule, step)], variant, seed, rejected)
                if pair is not None:
                    break
            if pair is not None:
                used[rule.name] += 1
                break
        if pair is None or step is None:
            reason = "all steps are used" if not free else "no operator fits"
            abstained[f"P{number}: {reason}"] += variants - variant + 1
            break
        free.remove(step)
        yield pair
    for reason, count in sorted(rejected.items()):
        abstained[f"P{number}: rejected: {reason}"] += count


def _multis(
    case: Case, steps: list[Step], rules: dict[int, list[Operator]], variants: int, seed: int, abstained: Counter[str]
) -> Iterator[ReasoningPair]:
    """Variants with different combinations of two to four principles, each flaw in a step of its own."""
    rng = chance(case, seed, "multi")
    sets = [combination for size in (2, 3, 4) for combination in combinations(NUMBERS, size)]
    # a random order in which sizes 2, 3 and 4 have weights 3, 2 and 1 (Efraimidis and Spirakis)
    weights = {2: 3 / 15, 3: 2 / 20, 4: 1 / 15}
    sets.sort(key=lambda combination: rng.random() ** (1 / weights[len(combination)]), reverse=True)
    used: Counter[str] = Counter()
    made = 0
    rejected: Counter[str] = Counter()
    for combination in sets:
        if made == variants:
            break
        chosen = _places(case, steps, [rules[number] for number in combination], rng, used)
        pair = _attempt(case, chosen, made + 1, seed, rejected) if chosen else None
        if pair is not None:
            made += 1
            used.update(rule.name for rule, _ in chosen)
            yield pair
    if made < variants:
        abstained["multi: no further combination fits"] += variants - made
    for reason, count in sorted(rejected.items()):
        abstained[f"multi: rejected: {reason}"] += count


def _places(
    case: Case, steps: list[Step], wanted: list[list[Operator]], rng: Random, used: Counter[str]
) -> list[tuple[Operator, Step]]:
    """An operator and a step of its own for each principle, the pickiest principle first; empty where one finds none."""
    free = rng.sample(steps, len(steps))
    chosen: list[tuple[Operator, Step]] = []
    for rules in sorted(wanted, key=lambda rules: rules[0].principle not in (2, 4)):
        found = None
        for rule in sorted(rng.sample(rules, len(rules)), key=lambda o: used[o.name]):
            found = next(((rule, step) for step in free if _edit(case, rule, step, 0, len(chosen)) is not None), None)
            if found:
                break
        if found is None:
            return []
        free.remove(found[1])
        chosen.append(found)
    return chosen
