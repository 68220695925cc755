"""The task to answer a checklist about one text, and the parser of the answers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from judge_r1.core.checklist import Checklist
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, Verdict
from judge_r1.episode.prompts import plain_prompt, template_hash
from judge_r1.episode.readable_json import readable_values
from judge_r1.judges.checklist_form import RESPONSE_TOKENS, write_answers
from judge_r1.judges.request import CustomPrompt, TokenLimits

STYLE = "checklist"
LIMITS = TokenLimits(prompt_tokens=200_000, response_tokens=4096)
"""A checklist needs room for its reasons (the release's max_tokens), and its texts are long."""
CONSTRAINED_LIMITS = TokenLimits(prompt_tokens=200_000, response_tokens=RESPONSE_TOKENS)
"""The same for constrained decoding, whose reasons are short."""
_ID, _SCORE, _REASON = "checklist_id", "evaluation_score", "reason"


@dataclass(frozen=True)
class ChecklistTask(CustomPrompt):
    """All questions in one prompt (HelloEval, Figure 9). `instruction` is what `response` answers."""

    instruction: str
    response: str
    checklist: Checklist


def checklist_task(instruction: str, response: str, checklist: Checklist) -> ChecklistTask:
    entries = json.dumps(checklist.entries(), ensure_ascii=False)
    prompt = plain_prompt(STYLE, {"instruction": instruction, "response": response, "checklist": entries})
    read, form = partial(read_answers, checklist=checklist), partial(write_answers, checklist=checklist)
    return ChecklistTask(prompt, read, instruction, response, checklist, form=form)


def prompt_hash() -> str:
    """Identifies the wording of the one-call prompt."""
    return template_hash(f"{STYLE}_system", f"{STYLE}_user")


def read_answers(text: str, checklist: Checklist) -> Verdict:
    """The scores and reasons in a reply: one object with `checklist_id`, `reason` and `evaluation_score` per question.

    JSON anywhere in the text is read, with the usual slips (`judge_r1.episode.readable_json`). Nothing is rounded or
    filled in: the ids must be those of the questions, once each, and a score must be one of the question's levels.
    Otherwise the verdict is invalid, as `no_answers`, `missing_item`, `unknown_item`, `repeated_item` or `bad_score`.
    """
    found = _answers(text)
    if not found:
        return InvalidVerdict(reason="no_answers")
    scores: dict[str, float] = {}
    reasons: dict[str, str] = {}
    for answer in found:
        number = _number(answer.get(_ID))
        if number is None or number != int(number) or not 0 <= number < len(checklist.criteria):
            return InvalidVerdict(reason="unknown_item")
        if (name := str(int(number))) in scores:
            return InvalidVerdict(reason="repeated_item")
        score = read_score(answer.get(_SCORE), checklist.criteria[int(number)].levels)
        if score is None:
            return InvalidVerdict(reason="bad_score")
        scores[name] = score
        if isinstance(reason := answer.get(_REASON), str) and reason.strip():
            reasons[name] = reason.strip()
    if len(scores) < len(checklist.criteria):
        return InvalidVerdict(reason="missing_item")
    ordered = [str(number) for number in range(len(checklist.criteria))]
    return ChecklistVerdict(
        scores={name: scores[name] for name in ordered},
        reasons={name: reasons[name] for name in ordered if name in reasons},
    )


def read_score(value: Any, levels: Sequence[float]) -> float | None:
    """The level that a number, or a number as text, stands for; None if it is none of `levels`."""
    number = _number(value)
    return None if number is None else next((level for level in levels if abs(level - number) < 1e-3), None)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _answers(text: str) -> list[dict[str, Any]]:
    """The objects of a reply that have an id; those of an object around them, too."""
    found: list[Any] = list(readable_values(text))
    if len(found) == 1 and _ID not in found[0]:
        found = next((value for value in found[0].values() if isinstance(value, list)), [])
    return [answer for answer in found if isinstance(answer, dict) and _ID in answer]
