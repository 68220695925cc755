"""Parses pairwise prompts of other judge benchmarks and formats answers as those prompts expect.

Four formats are supported: the marked answers of MT-Bench, RewardBench and Arena-Hard (`[The Start of Assistant A's
Answer]` or `<|The Start of …|>`), the sections of prometheus-eval (`###Response A:`), those of autoevals' Battle
(`[Response 1]`), and a JSON object `{"A": …, "B": …}`. A prompt in which a marker occurs twice is rejected: one of the
answers may contain a forged marker.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judge_r1.core.verdicts import describe_verdict
from judge_r1.files.strict_json import BadJson, parse_json
from judge_r1.judges.result import JudgeResult

AnswerFormat = Literal["brackets", "arena", "json", "letter", "result", "yes_no"]
_MARK = re.compile(
    r"(?:\[|<\|)\s*(?:"
    r"(?P<question>(?:user|client)?\s*(?:question|prompt))"
    r"|the (?P<edge>start|end) of (?:the )?assistant (?P<side>[ab])['’]s "
    r"(?:answer|response|conversation(?: with user)?)"
    r")\s*(?:\]|\|>)",
    re.IGNORECASE,
)
_ARENA = re.compile(r"\[\[[AB]>>?[AB]\]\]")
_BRACKETS = re.compile(r"\[\[[ABC]\]\]")
_SECTION = re.compile(r"^###(Instruction|Response A|Response B|Reference Answer|Score Rubric|Feedback):", re.MULTILINE)
_SECTIONS = {
    "Instruction": 0,
    "Response A": 1,
    "Response B": 2,
    "Reference Answer": 3,
    "Score Rubric": 4,
    "Feedback": 5,
}
_BATTLE = re.compile(
    r"^\[Instruction 1\]\n(?P<question>.*)\n\[Response 1\]\n(?P<a>.*)\n\[Instruction 2\]\n(?P=question)\n"
    r"\[Response 2\]\n(?P<b>.*)\nIs the first response better than the second\?",
    re.MULTILINE | re.DOTALL,
)
_BATTLE_MARK = re.compile(r"^\[(?:Instruction|Response) [12]\]$", re.MULTILINE)
_FIELDS = {"question", "context", "A", "B"}
EXAMPLES = """send a `judge` object, {"model": "judge-r1", "messages": [{"role": "user", "content": "judge"}], \
"judge": {"context": "…", "decision": "…", "reasoning_a": "…", "reasoning_b": "…"}}; or one user message like \
"[User Question]\\n…\\n[The Start of Assistant A's Answer]\\n…\\n[The End of Assistant A's Answer]\\n\
[The Start of Assistant B's Answer]\\n…\\n[The End of Assistant B's Answer]"; or one like \
{"question": "…", "A": "…", "B": "…"}"""


class UnsupportedPrompt(Exception):
    """The prompt has none of the supported formats; the message says why."""


@dataclass(frozen=True)
class PromptPair:
    """Two answers to a question, and the answer format that the prompt expects."""

    question: str
    context: str
    a: str
    b: str
    form: AnswerFormat


def parse_prompt(user: str, system: str = "") -> PromptPair:
    """Raises UnsupportedPrompt."""
    if user.lstrip().startswith("{"):
        return _read_json(user)
    if "\n###Response A:" in user:
        return _read_sections(user)
    if len(set(_BATTLE_MARK.findall(user))) == 4:
        return _read_battle(user)
    found = list(_MARK.finditer(user))
    marks = [mark for mark in found if not mark["question"]]
    names = [f"{mark['edge']} {mark['side']}".lower() for mark in marks]
    expected = ["start a", "end a", "start b", "end b"]
    if names != expected:
        if not marks:
            raise UnsupportedPrompt("it contains no two answers")
        raise UnsupportedPrompt(
            f"it must have these markers once each, in order: {', '.join(expected)}; it has {names}"
        )
    start_a, end_a, start_b, end_b = marks
    question_mark = next((mark for mark in found if mark["question"] and mark.end() <= start_a.start()), None)
    head = user[: question_mark.start()] if question_mark else ""
    outside = "\n".join([system, head, user[end_a.end() : start_b.start()], user[end_b.end() :]])
    a, b = user[start_a.end() : end_a.start()].strip(), user[start_b.end() : end_b.start()].strip()
    if not a or not b:
        raise UnsupportedPrompt("one of the answers is blank")
    question = user[question_mark.end() if question_mark else 0 : start_a.start()].strip()
    return PromptPair(question, "", a, b, _form(outside if question_mark else outside + question))


def has_two_answers(user: str) -> bool:
    """Whether a prompt is meant to compare two answers, even if it is not valid."""
    sections = "\n###Response A:" in user or len(set(_BATTLE_MARK.findall(user))) == 4
    return sections or user.lstrip().startswith("{") or any(mark["edge"] for mark in _MARK.finditer(user))


def format_answer(form: AnswerFormat, result: JudgeResult) -> str:
    """The verdict in the expected format.

    Only JSON includes the judge's explanation: in free text it could forge a verdict.
    """
    if form == "json":
        return json.dumps(
            {
                "winner": result.winner,
                "verdict": result.verdict.model_dump(mode="json"),
                "violated_principles": list(result.principles),
                "explanation": result.explanation,
                "confidence": result.confidence,
                "ended": result.ended,
            }
        )
    if result.winner is None:
        return describe_verdict(result.verdict)
    if form == "letter":
        return result.winner
    if form == "yes_no":
        return "Yes" if result.winner == "A" else "No"
    tie = result.winner == "tie"
    if form == "result":
        return describe_verdict(result.verdict) if tie else f"[RESULT] {result.winner}"
    if form == "arena":
        mark = "A=B" if tie else "A>B" if result.winner == "A" else "B>A"
    else:
        mark = "C" if tie else result.winner
    sentence = "The answers are equally good." if tie else f"The answer of assistant {result.winner} is better."
    violated = f" The other one violates: {', '.join(result.principles)}." if result.principles else ""
    return f"{sentence}{violated}\n\n[[{mark}]]"


def message_text(content: Any) -> str:
    """The text of a message, which may consist of parts. Raises UnsupportedPrompt if a part is not text."""
    if isinstance(content, str):
        return content
    parts: Sequence[Any] = content if isinstance(content, list) else [None]
    texts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise UnsupportedPrompt("a message contains something other than text")
    return "\n".join(text for text in texts if text)


def _read_json(user: str) -> PromptPair:
    try:
        fields = parse_json(user, "the prompt")
    except BadJson as error:
        raise UnsupportedPrompt(f"it starts like JSON, but {error}") from None
    if not {"A", "B"} <= fields.keys() <= _FIELDS or not all(isinstance(value, str) for value in fields.values()):
        raise UnsupportedPrompt(
            "its JSON must have A and B, may have question and context, and all values must be strings"
        )
    if not fields["A"].strip() or not fields["B"].strip():
        raise UnsupportedPrompt("one of the answers is blank")
    return PromptPair(fields.get("question", ""), fields.get("context", ""), fields["A"], fields["B"], "json")


def _read_sections(user: str) -> PromptPair:
    _, *parts = _SECTION.split(user)
    names, texts = parts[::2], [text.strip() for text in parts[1::2]]
    if names != sorted(set(names), key=_SECTIONS.__getitem__) or not {"Instruction", "Response B"} <= set(names):
        raise UnsupportedPrompt(f"it must have each of these sections once at most, in order: {', '.join(_SECTIONS)}")
    found = dict(zip(names, texts, strict=True))
    if not found["Response A"] or not found["Response B"]:
        raise UnsupportedPrompt("one of the answers is blank")
    more = [f"{name}:\n{found[name]}" for name in ("Reference Answer", "Score Rubric") if found.get(name)]
    question = "\n\n".join([found["Instruction"], *more])
    return PromptPair(question, "", found["Response A"], found["Response B"], "result")


def _read_battle(user: str) -> PromptPair:
    if _BATTLE_MARK.findall(user) != ["[Instruction 1]", "[Response 1]", "[Instruction 2]", "[Response 2]"]:
        raise UnsupportedPrompt("it must have each section once: [Instruction 1], [Response 1], [Instruction 2], …")
    if not (found := _BATTLE.search(user)):
        raise UnsupportedPrompt("it must compare the responses to one instruction, and ask whether the first is better")
    question, a, b = (found[name].strip() for name in ("question", "a", "b"))
    if not a or not b:
        raise UnsupportedPrompt("one of the answers is blank")
    return PromptPair(question, "", a, b, "yes_no")


def _form(instructions: str) -> AnswerFormat:
    return "arena" if _ARENA.search(instructions) else "brackets" if _BRACKETS.search(instructions) else "letter"
