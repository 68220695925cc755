"""The form of one turn of a rationale, for local models: a thought, then a search or a judgment."""

from itertools import combinations

from data_builders.text_units.steps import sentences
from judge_r1.core.principles import NUMBERS
from judge_r1.episode.answer_form import AnswerForm, ModelWriter

_ACTION_TOKENS, _MIN_THOUGHT_TOKENS = 60, 16


def turn_form(max_tokens: int, *, may_search: bool, may_answer: bool) -> AnswerForm:
    """Write a turn of up to `max_tokens`. A thought that does not end is cut behind its last whole sentence. Without
    one it is left open, and the turn has no action."""
    actions = [tag for tag, allowed in (("<search>", may_search), ("<answer>", may_answer)) if allowed]

    async def write(writer: ModelWriter) -> str:
        writer.add("<think>")
        thought, closed = await writer.write(max(max_tokens - _ACTION_TOKENS, _MIN_THOUGHT_TOKENS), end="</think>")
        if not closed:
            *whole, _ = sentences(thought) or [(0, 0)]
            if not whole:
                return f"<think>{thought}"
            thought = thought[: whole[-1][1]]
        writer.add(f"{thought}</think>\n")
        action = await writer.choose(actions, end="")
        if action == "<search>":
            query, _ = await writer.write(_ACTION_TOKENS, end="</search>")
            return f"<think>{thought}</think>\n<search>{query}</search>"
        return f"<think>{thought}</think>\n<answer>{await writer.choose(_JUDGMENTS, end='</answer>')}</answer>"

    return write


_JUDGMENTS = [
    f'{{"comparison": "A{sign}B", "violated_principles": {list(violated)}}}'
    for sign in "<>"
    for size in NUMBERS
    for violated in combinations(NUMBERS, size)
]
