"""Longer versions of the judge's prompt (RankJudge, appendix A: v2 to v5). Only their ideas are published; the wording
is ours."""

from collections.abc import Mapping
from typing import NamedTuple

from judge_r1.core.conversation_types import FAILURES

_LETTERS = {failure.key: failure.letter for failure in FAILURES}
_HINTS = """Types that are easily confused:
* The turn has the requested point, but late: {disorganized}. It lacks the point and gives another one: {evasion}. It \
says that it cannot give the point: {unnecessary_refusal}.
* The turn conflicts with an earlier turn: {self_contradiction}. It answers what the document leaves open, without \
such a conflict: {fabricated_answer}.
* The question has one reading and the answer is beside it: {evasion}. It has several readings and the answer takes \
one for granted: {no_clarification}.
* The turn is fine on its own, but breaks a request of an earlier message: {instruction_forgetting}."""
_COMPARE = """Before you decide, name in analysis the most suspicious turn of each conversation with its round and \
type, and say why one of the two is the real problem and the other is none."""
_RULES = """Go through the turns in this order and stop at the first rule that holds for exactly one turn:
1. It breaks a request on the content that the user made earlier: {instruction_forgetting}.
2. Its value or claim differs from that of an earlier turn on the same point: {self_contradiction}.
3. It says that it cannot answer, or that the document is silent, and the document has the answer: \
{unnecessary_refusal}.
4. The question has several readings, and the turn asks nothing back: {no_clarification}.
5. The document does not answer the question, and the turn does: {fabricated_answer}.
6. The requested point is missing: {evasion}. It comes after other remarks: {disorganized}."""
_STAGES = (
    "Work in two stages. First list candidates: every turn of either conversation that may be a problem, with its type "
    "and the words that show it. Then check each candidate against the document and the earlier turns, and keep one."
)


class Revision(NamedTuple):
    """What a version adds to the prompt: a note before the form, and fields at the start of the JSON object."""

    note: str
    fields: str = ""


REVISIONS: Mapping[str, Revision] = {
    "hints": Revision(_HINTS.format(**_LETTERS)),
    "compare": Revision(_COMPARE),
    "rules": Revision(f"{_RULES.format(**_LETTERS)}\n\n{_COMPARE}"),
    "stages": Revision(
        _STAGES,
        '"candidates": [{"conversation": "A", "round": 2, "problem_type": "B", "evidence": "…", "holds": false}], ',
    ),
}
"""v2 hints on confusable types, v3 a comparison, v4 decision rules and a comparison, v5 two stages."""
