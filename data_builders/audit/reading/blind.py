"""Writes a blind sheet: pairs whose flaw only the case shows, without the case and the label.

A reader chooses the worse reasoning of each. What readers find there, a judge can find without reading the case.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from data_builders.audit.reading.sample import Candidate
from data_builders.audit.reading.sheet import CLOSING, OPENING, READ_WITH_CASE, replaced_span, write_drawn
from judge_r1.core.record_base import NonEmpty, Record, content_hash
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.verdicts import Preference

BLIND_FILE = "blind.jsonl"


class BlindItem(Record):
    """One pair of a blind sheet. `worse` and `reason` are for the reader.

    `decision` is that of the case, which a judge without the case sees too. `text` is the reasoning; where the two
    differ it shows ⟦A: … | B: …⟧. There is no pair id, because the side of the better reasoning follows from it.
    """

    schema_: Literal[1] = Field(1, alias="schema")
    number: int
    item_id: NonEmpty
    domain: NonEmpty
    decision: NonEmpty
    text: NonEmpty
    worse: Preference | None = None
    reason: str = ""


def write_blind_sheet(folders: Sequence[Path], out: Path, *, per_principle: int, seed: int) -> dict[str, Any]:
    """Draw pairs that violate P2 or P4 alone into the folder `out`. Returns the content of sample.json.

    Raises:
        JudgeError: `out` holds pairs already, or the data sets have no such pair.
    """
    return write_drawn(
        folders,
        out / BLIND_FILE,
        draw_one_per_group,
        blind_item,
        READ_WITH_CASE,
        per_principle=per_principle,
        seed=seed,
    )


def draw_one_per_group(found: Sequence[Candidate], per_principle: int) -> list[Candidate]:
    """Return up to `per_principle` pairs of each of P2 and P4, in random order.

    They are balanced over domains, then over the sides of the better reasoning, then over data sets.

    The principles take turns. A case has at most one pair, and so have the cases of one paper: two pairs of a case
    share the better text, which shows the label of both, and reviews of one paper quote the same sentences.
    """
    drawn, used, counts = list[Candidate](), set[str](), Counter[tuple[int | str, ...]]()
    for _ in range(per_principle):
        for principle in READ_WITH_CASE:
            rest = [c for c in found if c.principle == principle and c.group not in used]
            if rest:
                best = min(
                    rest,
                    key=lambda c: (*(counts[key] for key in _balanced(c)), c.order),
                )
                counts.update(_balanced(best))
                used.add(best.group)
                drawn.append(best)
    return sorted(drawn, key=lambda c: c.order)


def _balanced(c: Candidate) -> list[tuple[int | str, ...]]:
    """What the pairs of a principle are balanced over, the most important first."""
    return [(c.principle, c.domain), (c.principle, c.preferred), (c.principle, c.domain, c.dataset)]


def blind_item(number: int, pair: ReasoningPair, case: Case) -> BlindItem:
    """The line of a pair, which shows neither the case's context nor the label. `number` counts from 1."""
    start, end = replaced_span(pair)
    span = pair.origin.flaws[0].span
    sides = {"reference": pair.reference[start:end], "flawed": pair.flawed[span.start : span.end]}
    a, b = ("reference", "flawed") if pair.preferred == "A" else ("flawed", "reference")
    changed = f"{OPENING}A: {sides[a]} | B: {sides[b]}{CLOSING}"
    text = pair.reference[:start] + changed + pair.reference[end:]
    return BlindItem(
        schema=1, number=number, item_id=item_id_of(pair), domain=case.domain, decision=case.decision, text=text
    )


def item_id_of(pair: ReasoningPair) -> str:
    """The id of a pair on blind sheets."""
    return content_hash("blind", pair.pair_id)
