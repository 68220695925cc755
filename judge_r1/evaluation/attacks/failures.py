"""The attacked pairs that a judge got wrong, as labelled pairs to train on."""

from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.core.records import ATTACK, Case, Flaw, ReasoningPair, Span
from judge_r1.evaluation.attacks.benchmark import Attacked
from judge_r1.files.pair_set import PairSet

ATTACKED_BY = "attack"
"""The key of `Case.meta` that names the attack on the case."""


def failures(items: Sequence[Attacked], data: PairSet) -> PairSet:
    """The pairs of `items` with the attack in them: same reference, flaws and labels, spans moved with the text.

    A text that an attack replaces keeps no flaw, so those pairs are left out. So are pairs of P2 and P4 whose case got
    a note, since the note says what the flaw says. `origin.teacher` names the attack.
    """
    pairs = data.by_id()
    cases, found = dict[str, Case](), list[ReasoningPair]()
    for one in items:
        change = one.change()
        pair = pairs[one.original.item_id]
        if change.instead is not None or (change.in_case and {2, 4} & set(pair.violated)):
            continue
        case = _case(data.case_of(pair), change.in_case, one.attack)
        flaws = tuple(_moved(flaw, len(change.before)) for flaw in pair.origin.flaws)
        origin = pair.origin.model_copy(
            update={"flaws": flaws, "teacher": f"{pair.origin.teacher}{ATTACK}{one.attack}"}
        )
        made = ReasoningPair.of(case, change.of(pair.flawed), variant=pair.variant, origin=origin, seed=origin.seed)
        cases[case.case_id] = case
        found.append(made.placed(pair.preferred))
    return PairSet(cases, found)


def _case(case: Case, note: str, attack: str) -> Case:
    """The case with a note at its end. It stays in the group of the original, since the two are not independent."""
    if not note:
        return case
    meta: Mapping[str, Any] = {**case.meta, "group": case.meta.get("group") or case.case_id, ATTACKED_BY: attack}
    return Case.of(
        domain=case.domain, context=case.context + note, decision=case.decision, reference=case.reference,
        source=case.source, license=case.license, meta=dict(meta),
    )  # fmt: skip


def _moved(flaw: Flaw, by: int) -> Flaw:
    return flaw.model_copy(update={"span": Span(start=flaw.span.start + by, end=flaw.span.end + by)})
