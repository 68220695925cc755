"""Creates flawed variants of a case with rules: operators are tried at steps of the reference, without a model.

The single variants of a principle change different steps. A multi variant breaks two to four principles in as many
steps, and no two of a case break the same combination (LRBench, section 2.3 and appendix E). Random generators are
seeded by (case, seed, principle), so a variant depends on other cases only through `Forms`.

`Forms` limits how often rules use the same words, because a reader who knows the words needs no case. The form of a
flaw is what it puts in (`no violation` for `a violation`: `no`), or what it leaves out if it puts in nothing. A form is
not used again while it makes up a tenth of the flaws of its principle in its set.
"""

import importlib
import pkgutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from random import Random

import data_builders.perturb.rules
from data_builders.perturb.pair_checks import RULES, check_pair
from data_builders.perturb.rules.operators import OPERATORS, Operator, seeded_random
from data_builders.text_units.clauses import is_balanced
from data_builders.text_units.edits import Edit, apply_edits
from data_builders.text_units.steps import Step, split_steps
from judge_r1.core.principles import NUMBERS
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair
from judge_r1.core.registry import UnknownName, suggest

USED_UP = "the words of other places make up a tenth of the set"


SINGLE = "single"
"""The salt of the edits of single pairs."""
PlannedEdit = tuple[Operator, Step, Edit]


LIMIT = 10
"""One over the largest share of a form."""


class Forms:
    """The forms of one build. Which flaws a case gets depends on the cases before it, whose order a build fixes."""

    def __init__(self) -> None:
        self._used: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)

    def allows(self, kind: str, principle: int, form: str) -> bool:
        """Whether a form is new among the flaws of a principle in single or multi pairs, or less than a tenth."""
        used = self._used[kind, principle]
        return not used[form] or LIMIT * used[form] < used.total()

    def add(self, kind: str, principle: int, form: str) -> None:
        """Count the form of a flaw."""
        self._used[kind, principle][form] += 1


def form_of(edit: Edit, reference: str) -> str:
    """The form of an edit of the reference."""
    new = " ".join(edit.replacement.lower().split())
    return new or f"without {' '.join(reference[edit.start : edit.end].lower().split())}"


class CaseEdits:
    """The edits of one case, cached by operator, step and salt, each with its own random generator."""

    def __init__(self, case: Case, seed: int, forms: Forms | None = None) -> None:
        self.case, self.seed, self._forms = case, seed, forms
        self._edits: dict[tuple[str, int, str], list[Edit]] = {}
        self._barren: set[tuple[str, int]] = set()
        self.rejected: Counter[str] = Counter()
        self.used_up: set[tuple[str, int]] = set()
        """The kinds and principles of which an edit was left out for its form."""

    def edits(self, rule: Operator, step: Step, salt: str) -> list[Edit]:
        """The edits of an operator that change something, keep brackets closed and have a form that is not used up, in
        random order."""
        found, kind = self._found(rule, step, salt), _kind(salt)
        if self._forms is None:
            return found
        allowed = [
            edit for edit in found if self._forms.allows(kind, rule.principle, form_of(edit, self.case.reference))
        ]
        if len(allowed) < len(found):
            self.used_up.add((kind, rule.principle))
        return allowed

    def _found(self, rule: Operator, step: Step, salt: str) -> list[Edit]:
        """Where an operator finds none, it is not asked again: another salt draws other words, not other places."""
        key = (rule.name, step.index, salt)
        if key[:2] in self._barren:
            return []
        if key not in self._edits:
            rng = seeded_random(self.case, self.seed, *key)
            found = [edit for edit in rule.apply(self.case, step, rng) if self._is_usable(edit)]
            self._edits[key] = rng.sample(found, len(found))
            if not found:
                self._barren.add(key[:2])
        return self._edits[key]

    def edit(self, rule: Operator, step: Step, salt: str) -> Edit | None:
        """The first edit of an operator."""
        return next(iter(self.edits(rule, step, salt)), None)

    def _is_usable(self, edit: Edit) -> bool:
        old = self.case.reference[edit.start : edit.end]
        return edit.replacement != old and is_balanced(old) == is_balanced(edit.replacement)

    def take_rejected(self, name: str) -> Counter[str]:
        """The rejections since the last call, by reason, for a set."""
        found = Counter({f"{name}: rejected: {reason}": count for reason, count in sorted(self.rejected.items())})
        self.rejected.clear()
        return found

    def pair(self, planned: Sequence[PlannedEdit], variant: int) -> ReasoningPair | None:
        """Return the pair with these edits, or None if `check_pair` rejects it; rejections are counted."""
        flawed, spans = apply_edits(self.case.reference, [edit for _, _, edit in planned])
        flaws = tuple(
            Flaw(principle=rule.principle, operator=rule.name, span=span, context_spans=edit.context_spans)
            for (rule, _, edit), span in zip(planned, spans, strict=True)
        )
        flaws = tuple(sorted(flaws, key=lambda flaw: flaw.span.start))
        origin = Origin(teacher=RULES, seed=self.seed, flaws=flaws)
        pair = ReasoningPair.of(self.case, flawed, variant=variant, origin=origin, seed=self.seed)
        reason = check_pair(self.case, pair)
        if reason is not None:
            self.rejected[reason] += 1
            return None
        for rule, _, edit in planned:
            if self._forms is not None:
                self._forms.add(pair.kind, rule.principle, form_of(edit, self.case.reference))
        return pair


def _kind(salt: str) -> str:
    return SINGLE if salt == SINGLE else "multi"


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
