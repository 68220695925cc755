"""The prompts of the benchmark, and the parsers of the answers.

The list of failures comes from the taxonomy. Rounds are numbered, because judges must name one; `numbered=False`
leaves the numbers out, like the public code.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from judge_r1.core.conversations import FAILURES, failure_type
from judge_r1.core.items import Conversation
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, LocatedVerdict, Verdict
from judge_r1.episode.answer_form import ModelWriter
from judge_r1.episode.json_objects import json_objects
from judge_r1.episode.located_answer import problem_list
from judge_r1.episode.prompts import Message, Prompt
from judge_r1.episode.readable_json import number_within, readable_values
from judge_r1.episode.stated_verdict import compared
from judge_r1.episode.tags import escape_tags
from judge_r1.files.transcripts import transcript

_LETTERS = {failure.key: failure.letter for failure in FAILURES}
_MOST_ROUNDS = 10_000
"""A larger number is no round of any conversation, and may be beyond all floats."""
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


RevisionName = Literal["hints", "compare", "rules", "stages"]
REVISIONS: Mapping[RevisionName, Revision] = {
    "hints": Revision(_HINTS.format(**_LETTERS)),
    "compare": Revision(_COMPARE),
    "rules": Revision(f"{_RULES.format(**_LETTERS)}\n\n{_COMPARE}"),
    "stages": Revision(
        _STAGES,
        '"candidates": [{"conversation": "A", "round": 2, "problem_type": "B", "evidence": "…", "holds": false}], ',
    ),
}
"""v2 hints on confusable types, v3 a comparison, v4 decision rules and a comparison, v5 two stages."""


_ROLE = (
    "You judge conversations between a user and an assistant about a document. The two conversations may ask different "
    "questions. Decide in which one the assistant is better. The worse one has exactly one problematic assistant turn; "
    "find its round and the type of the problem."
)
_SINGLE_ROLE = (
    "You judge a conversation between a user and an assistant about a document. Rate the assistant. The conversation "
    "has at most one problematic assistant turn; say whether there is one, and if so its round and type."
)
_NOTE = "All types weigh the same. Read every turn before you choose a type; do not prefer a type."
_FORM = (
    "Answer with one JSON object and nothing else: "
    '{%s"analysis": "a few sentences", "worst_round": 3, "problem_type": "A", "verdict": "B"}. verdict is the better '
    "conversation, A or B; worst_round and problem_type are about the other one."
)
_SINGLE_FORM = (
    "Answer with one JSON object and nothing else: "
    '{"analysis": "a few sentences", "score": 7, "is_flawed": true, "worst_round": 3, "problem_type": "A"}. score is '
    "from 1 (bad) to 10 (perfect). Without a problem, worst_round and problem_type are null."
)


def pairwise_prompt(
    first: Conversation,
    second: Conversation,
    document: str | None,
    *,
    numbered: bool = True,
    revision: RevisionName | None = None,
) -> Prompt:
    """The prompt to compare two conversations, with the document if it is given. `revision` names one of
    `REVISIONS`."""
    talks = {"CONVERSATION A": first, "CONVERSATION B": second}
    shown = {title: transcript(talk, numbered=numbered) for title, talk in talks.items()}
    note, fields = REVISIONS[revision] if revision else ("", "")
    return _prompt(_ROLE, document, shown, f"{note}\n\n{_FORM % fields}".lstrip())


def pointwise_prompt(conversation: Conversation, document: str | None, *, numbered: bool = True) -> Prompt:
    """The prompt to rate one conversation."""
    return _prompt(_SINGLE_ROLE, document, {"CONVERSATION": transcript(conversation, numbered=numbered)}, _SINGLE_FORM)


def _prompt(role: str, document: str | None, shown: dict[str, str], form: str) -> Prompt:
    texts = {**({"DOCUMENT": document} if document is not None else {}), **shown}
    parts = [f"# {title}\n\ue000{number}\ue001" for number, title in enumerate(texts)]
    user = "\n\n".join([*parts, f"# TYPES OF PROBLEMS\n{problem_list()}", _NOTE, form])
    inserted = tuple(escape_tags(text) for text in texts.values())
    return Prompt((Message("system", role), Message("user", user)), inserted, tuple(texts))


async def write_pairwise(writer: ModelWriter, rounds: int) -> str:
    """The answer by constrained decoding: a round from 1 to `rounds`, a type and a side, without an analysis."""
    parts = (
        ('{"worst_round": ', [str(number) for number in range(1, rounds + 1)], ", "),
        ('"problem_type": "', [failure.letter for failure in FAILURES], '", '),
        ('"verdict": "', ["A", "B"], '"}'),
    )
    answer = ""
    for begun, options, end in parts:
        writer.add(begun)
        answer += begun + await writer.choose(options, end=end) + end
    return answer


def read_pairwise(text: str, *, strict: bool = False) -> Verdict:
    """The verdict of an answer. Without a verdict it is invalid; a missing round or type is None, which is wrong.
    `strict` reads JSON alone, for rewards."""
    found = _last_with(json_objects(text) if strict else readable_values(text), "verdict")
    winner = found.get("verdict") if found else None
    if not strict and (side := compared(winner)):
        winner = "A" if side == "A>B" else "B"
    if not found or winner not in ("A", "B"):
        return InvalidVerdict(reason="no_verdict" if found else "no_json")
    return LocatedVerdict(winner=winner, round=_round(found), failure=_failure(found))


def read_pointwise(text: str) -> Verdict:
    """The score of an answer from 1 to 10, as a checklist with the claimed flaw; invalid without a score."""
    found = _last_with(readable_values(text), "score")
    score = number_within(found.get("score"), 1, 10) if found else None
    if not found or score is None:
        return InvalidVerdict(reason="no_score" if found else "no_json")
    round_, failure = _round(found), _failure(found)
    scores = {"score": score, "flawed": float(found.get("is_flawed") is True)}
    return ChecklistVerdict(
        scores=scores | ({"round": float(round_)} if round_ else {}) | ({failure: 1.0} if failure else {})
    )


def _last_with(objects: Sequence[dict[str, Any]], key: str) -> dict[str, Any] | None:
    return next((found for found in reversed(objects) if key in found), objects[-1] if objects else None)


def _round(found: dict[str, Any]) -> int | None:
    value = found.get("worst_round")
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST_ROUNDS else None


def _failure(found: dict[str, Any]) -> str | None:
    value = found.get("problem_type")
    failure = failure_type(value) if isinstance(value, str) else None
    return failure.key if failure else None
