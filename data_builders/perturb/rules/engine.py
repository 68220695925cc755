"""Creates flawed variants of a case with rules: operators are tried at steps of the reference, without a model.

The single variants of a principle change different steps. A multi variant breaks two to four principles in as many
steps, and no two of a case break the same combination (LRBench, section 2.3 and appendix E). Random generators are
seeded by (case, seed, principle), so a variant does not depend on other cases.
"""

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from random import Random

import data_builders.perturb.rules
from data_builders.perturb.pair_checks import check_pair
from data_builders.perturb.rules.clauses import is_balanced
from data_builders.perturb.rules.operators import OPERATORS, Edit, Operator, Step
from data_builders.perturb.rules.selection import REPEAT_WEIGHT, Selection
from data_builders.perturb.rules.steps import split_steps
from judge_r1.core.principles import NUMBERS
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span
from judge_r1.core.registry import UnknownName, suggest

TEACHER = "rules"
DRAWS, MULTI_DRAWS, MAX_CANDIDATES = 3, 4, 24
"""With a selection: edits drawn per operator and step, plans per combination, and candidates per principle."""
PlannedEdit = tuple[Operator, Step, Edit]


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
    selection: Selection | None = None,
) -> Iterator[ReasoningPair]:
    """Yield up to `variants` single pairs per principle, then up to `variants` multi pairs.

    `abstained` counts the variants that cannot be made, by principle and reason. With a `selection`, more flaws are
    tried and those that balance the set are yielded.
    """
    by_principle = operators(rule_set)
    steps = split_steps(case.reference)
    if "single" in kinds:
        for number in NUMBERS:
            rules = by_principle[number]
            if selection is None:
                yield from _single_pairs(case, steps, rules, number, variants, seed, abstained)
            else:
                yield from _selected_pairs(case, steps, rules, number, variants, seed, abstained, selection)
    if "multi" in kinds:
        yield from _multi_pairs(case, steps, by_principle, variants, seed, abstained, selection)


def seeded_random(case: Case, seed: int, *parts: str | int) -> Random:
    """Return a generator that depends on case, seed and parts only."""
    return Random(int(content_hash(case.case_id, seed, *parts), 16))


def apply_edits(text: str, edits: Sequence[Edit]) -> tuple[str, list[Span]]:
    """Return the edited text, and the span of each replacement in it, in the order of `edits`.

    The span of an empty replacement is the character before it.

    Raises:
        ValueError: two edits overlap.
    """
    spans: dict[int, Span] = {}
    parts, position, length = [], 0, 0
    for index, edit in sorted(enumerate(edits), key=lambda entry: entry[1].start):
        if edit.start < position:
            raise ValueError(f"two edits overlap at character {edit.start} of the reference")
        parts += [text[position : edit.start], edit.replacement]
        length += edit.start - position
        start = length if edit.replacement else max(0, length - 1)
        length += len(edit.replacement)
        spans[index] = Span(start=start, end=max(length, start + 1))
        position = edit.end
    return "".join([*parts, text[position:]]), [spans[index] for index in range(len(edits))]


class _CaseEdits:
    """The edits of one case, cached by operator, step and salt, each with its own random generator."""

    def __init__(self, case: Case, seed: int) -> None:
        self.case, self.seed = case, seed
        self._edits: dict[tuple[str, int, str], Edit | None] = {}
        self.rejected: Counter[str] = Counter()

    def edit(self, rule: Operator, step: Step, salt: str) -> Edit | None:
        key = (rule.name, step.index, salt)
        if key not in self._edits:
            edit = rule.apply(self.case, step, seeded_random(self.case, self.seed, *key))
            self._edits[key] = edit if edit is None or self._is_usable(edit) else None
        return self._edits[key]

    def _is_usable(self, edit: Edit) -> bool:
        old = self.case.reference[edit.start : edit.end]
        return edit.replacement != old and is_balanced(old) == is_balanced(edit.replacement)

    def pair(self, planned: Sequence[PlannedEdit], variant: int) -> ReasoningPair | None:
        """Return the pair with these edits, or None if `check_pair` rejects it; rejections are counted."""
        flawed, spans = apply_edits(self.case.reference, [edit for _, _, edit in planned])
        flaws = tuple(
            Flaw(principle=rule.principle, operator=rule.name, span=span, context_spans=edit.context_spans)
            for (rule, _, edit), span in zip(planned, spans, strict=True)
        )
        flaws = tuple(sorted(flaws, key=lambda flaw: flaw.span.start))
        origin = Origin(teacher=TEACHER, seed=self.seed, flaws=flaws)
        pair = ReasoningPair.of(self.case, flawed, variant=variant, origin=origin, seed=self.seed)
        reason = check_pair(self.case, pair)
        if reason is not None:
            self.rejected[reason] += 1
            return None
        return pair


def _single_pairs(
    case: Case, steps: list[Step], rules: list[Operator], number: int, variants: int, seed: int, abstained: Counter[str]
) -> Iterator[ReasoningPair]:
    """Yield variants of one principle at different steps. The least used operator is tried first."""
    rng = seeded_random(case, seed, number)
    edits = _CaseEdits(case, seed)
    shuffled_rules, free = rng.sample(rules, len(rules)), rng.sample(steps, len(steps))
    used: Counter[str] = Counter()
    tried: set[tuple[str, int]] = set()
    for variant in range(1, variants + 1):
        found: tuple[ReasoningPair, Operator, Step] | None = None
        for rule, step in ((r, s) for r in sorted(shuffled_rules, key=lambda r: used[r.name]) for s in free):
            if (rule.name, step.index) in tried:
                continue
            tried.add((rule.name, step.index))
            edit = edits.edit(rule, step, "single")
            pair = edits.pair([(rule, step, edit)], variant) if edit else None
            if pair is not None:
                found = pair, rule, step
                break
        if found is None:
            abstained[f"P{number}: {'no operator fits' if free else 'all steps are used'}"] += variants - variant + 1
            break
        used[found[1].name] += 1
        free.remove(found[2])
        yield found[0]
    for reason, count in sorted(edits.rejected.items()):
        abstained[f"P{number}: rejected: {reason}"] += count


def _selected_pairs(
    case: Case,
    steps: list[Step],
    rules: list[Operator],
    number: int,
    variants: int,
    seed: int,
    abstained: Counter[str],
    selection: Selection,
) -> Iterator[ReasoningPair]:
    """Yield variants of one principle at different steps, chosen by `selection` among up to `MAX_CANDIDATES`."""
    rng = seeded_random(case, seed, number)
    edits = _CaseEdits(case, seed)
    places = [(rule, step, f"single{draw}") for draw in range(DRAWS) for rule in rules for step in steps]
    found: dict[str, tuple[ReasoningPair, Operator, Step]] = {}
    for rule, step, salt in rng.sample(places, len(places)):
        if len(found) == MAX_CANDIDATES:
            break
        edit = edits.edit(rule, step, salt)
        pair = edits.pair([(rule, step, edit)], 1) if edit else None
        if pair is not None:
            found.setdefault(pair.pair_id, (pair, rule, step))
    candidates = list(found.values())
    measured = selection.measure([pair for pair, _, _ in candidates])
    used: Counter[str] = Counter()
    taken: set[int] = set()
    for variant in range(1, variants + 1):
        free = [i for i, (_, _, step) in enumerate(candidates) if step.index not in taken]
        penalties = [REPEAT_WEIGHT * used[candidates[i][1].name] for i in free]
        chosen = selection.choose([measured[i] for i in free], penalties)
        if chosen is None:
            reason = "no candidate keeps the set balanced" if free else "no operator fits a free step"
            abstained[f"P{number}: {reason}"] += variants - variant + 1
            break
        pair, rule, step = candidates[free[chosen]]
        selection.record(measured[free[chosen]])
        used[rule.name] += 1
        taken.add(step.index)
        yield pair.model_copy(update={"variant": variant})
    for reason, count in sorted(edits.rejected.items()):
        abstained[f"P{number}: rejected: {reason}"] += count


def _multi_pairs(
    case: Case,
    steps: list[Step],
    rules: dict[int, list[Operator]],
    variants: int,
    seed: int,
    abstained: Counter[str],
    selection: Selection | None = None,
) -> Iterator[ReasoningPair]:
    """Yield variants with different combinations of two to four principles, each flaw in a different step."""
    rng = seeded_random(case, seed, "multi")
    edits = _CaseEdits(case, seed)
    used: Counter[str] = Counter()
    count = 0
    for combination in _shuffled_combinations(rng):
        if count == variants:
            break
        salt = "multi" + "".join(map(str, combination))
        plans = [
            (planned, pair)
            for draw in range(MULTI_DRAWS if selection else 1)
            if (planned := _plan(edits, steps, [rules[n] for n in combination], f"{salt}{draw or ''}", rng, used))
            and (pair := edits.pair(planned, count + 1)) is not None
        ]
        if selection is not None and plans:
            measured = selection.measure([pair for _, pair in plans])
            chosen = selection.choose(measured, [0.0] * len(plans))
            plans = [] if chosen is None else [plans[chosen]]
            if chosen is not None:
                selection.record(measured[chosen])
        if plans:
            planned, pair = plans[0]
            count += 1
            used.update(rule.name for rule, _, _ in planned)
            yield pair
    if count < variants:
        abstained["multi: no further combination fits"] += variants - count
    for reason, rejections in sorted(edits.rejected.items()):
        abstained[f"multi: rejected: {reason}"] += rejections


def _shuffled_combinations(rng: Random) -> list[tuple[int, ...]]:
    """Return all sets of two to four principles in a weighted random order that favours small sets."""
    weights = {2: 3 / 15, 3: 2 / 20, 4: 1 / 15}
    sets = [combination for size in weights for combination in combinations(NUMBERS, size)]
    keys = {combination: rng.random() ** (1 / weights[len(combination)]) for combination in sets}
    return sorted(sets, key=lambda combination: -keys[combination])


def _plan(
    edits: _CaseEdits, steps: list[Step], wanted: list[list[Operator]], salt: str, rng: Random, used: Counter[str]
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
