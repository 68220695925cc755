"""Flawed variants of a case by rules alone: no model, only operators, each tried at each step.

Single variants break one principle, each at a step of its own; multi variants combine two to four principles in as
many steps, no two of them the same combination (LRBench, section 2.3 and appendix E). All chance comes from generators
seeded by (case, seed, principle), so a variant never depends on other cases or on the order of a run.
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
from data_builders.perturb.rules.clauses import balanced
from data_builders.perturb.rules.operators import OPERATORS, Edit, Operator, Step
from data_builders.perturb.rules.steps import split_steps
from judge_r1.core.principles import NUMBERS
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span, content_hash
from judge_r1.core.registry import UnknownName, suggest

TEACHER = "rules"
Placed = tuple[Operator, Step, Edit]


@cache
def operators(rule_set: str) -> dict[int, list[Operator]]:
    """The operators of a rule set by principle; every module of this package may register some."""
    for module in pkgutil.iter_modules(data_builders.perturb.rules.__path__):
        importlib.import_module(f"{data_builders.perturb.rules.__name__}.{module.name}")
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


class _Attempts:
    """The edits of a case, each made once: operator and step give the edit, with chance of their own."""

    def __init__(self, case: Case, seed: int) -> None:
        self.case, self.seed = case, seed
        self._edits: dict[tuple[str, int, str], Edit | None] = {}
        self.rejected: Counter[str] = Counter()

    def edit(self, rule: Operator, step: Step, salt: str) -> Edit | None:
        key = (rule.name, step.index, salt)
        if key not in self._edits:
            edit = rule.apply(self.case, step, chance(self.case, self.seed, *key))
            self._edits[key] = edit if edit is None or self._may(edit) else None
        return self._edits[key]

    def _may(self, edit: Edit) -> bool:
        old = self.case.reference[edit.start : edit.end]
        return edit.replacement != old and balanced(old) == balanced(edit.replacement)

    def pair(self, placed: Sequence[Placed], variant: int) -> ReasoningPair | None:
        """The pair with these edits, or None (counted) where it is no valid pair."""
        flawed, spans = apply(self.case.reference, [edit for _, _, edit in placed])
        flaws = tuple(
            Flaw(principle=rule.principle, operator=rule.name, span=span, context_spans=edit.context_spans)
            for (rule, _, edit), span in zip(placed, spans, strict=True)
        )
        flaws = tuple(sorted(flaws, key=lambda flaw: flaw.span.start))
        origin = Origin(teacher=TEACHER, seed=self.seed, flaws=flaws)
        pair = ReasoningPair.of(self.case, flawed, variant=variant, origin=origin, seed=self.seed)
        reason = check_pair(self.case, pair)
        if reason is not None:
            self.rejected[reason] += 1
            return None
        return pair


def _singles(
    case: Case, steps: list[Step], rules: list[Operator], number: int, variants: int, seed: int, abstained: Counter[str]
) -> Iterator[ReasoningPair]:
    """Variants of one principle at distinct steps; the operator used least so far is tried first."""
    rng = chance(case, seed, number)
    attempts = _Attempts(case, seed)
    rotation, free = rng.sample(rules, len(rules)), rng.sample(steps, len(steps))
    used: Counter[str] = Counter()
    tried: set[tuple[str, int]] = set()
    for variant in range(1, variants + 1):
        found: tuple[ReasoningPair, Operator, Step] | None = None
        for rule, step in ((r, s) for r in sorted(rotation, key=lambda r: used[r.name]) for s in free):
            if (rule.name, step.index) in tried:
                continue
            tried.add((rule.name, step.index))
            edit = attempts.edit(rule, step, "single")
            pair = attempts.pair([(rule, step, edit)], variant) if edit else None
            if pair is not None:
                found = pair, rule, step
                break
        if found is None:
            abstained[f"P{number}: {'no operator fits' if free else 'all steps are used'}"] += variants - variant + 1
            break
        used[found[1].name] += 1
        free.remove(found[2])
        yield found[0]
    for reason, count in sorted(attempts.rejected.items()):
        abstained[f"P{number}: rejected: {reason}"] += count


def _multis(
    case: Case, steps: list[Step], rules: dict[int, list[Operator]], variants: int, seed: int, abstained: Counter[str]
) -> Iterator[ReasoningPair]:
    """Variants with different combinations of two to four principles, each flaw in a step of its own."""
    rng = chance(case, seed, "multi")
    attempts = _Attempts(case, seed)
    used: Counter[str] = Counter()
    made = 0
    for combination in _combinations(rng):
        if made == variants:
            break
        salt = "multi" + "".join(map(str, combination))
        placed = _places(attempts, steps, [rules[number] for number in combination], salt, rng, used)
        pair = attempts.pair(placed, made + 1) if placed else None
        if pair is not None:
            made += 1
            used.update(rule.name for rule, _, _ in placed)
            yield pair
    if made < variants:
        abstained["multi: no further combination fits"] += variants - made
    for reason, count in sorted(attempts.rejected.items()):
        abstained[f"multi: rejected: {reason}"] += count


def _combinations(rng: Random) -> list[tuple[int, ...]]:
    """All sets of two to four principles in a random order, in which pairs come early more often than fours."""
    share = {2: 3 / 15, 3: 2 / 20, 4: 1 / 15}
    sets = [combination for size in share for combination in combinations(NUMBERS, size)]
    keys = {combination: rng.random() ** (1 / share[len(combination)]) for combination in sets}
    return sorted(sets, key=lambda combination: -keys[combination])


def _places(
    attempts: _Attempts, steps: list[Step], wanted: list[list[Operator]], salt: str, rng: Random, used: Counter[str]
) -> list[Placed]:
    """An operator and a step of its own for each principle, the pickiest first; empty where one finds none."""
    free = rng.sample(steps, len(steps))
    placed: list[Placed] = []
    for rules in sorted(wanted, key=lambda rules: bool(rules) and rules[0].principle not in (2, 4)):
        order = sorted(rng.sample(rules, len(rules)), key=lambda rule: used[rule.name])
        fits = ((r, s, edit) for r in order for s in free if (edit := attempts.edit(r, s, salt)) is not None)
        found = next(fits, None)
        if found is None:
            return []
        free.remove(found[1])
        placed.append(found)
    return placed
