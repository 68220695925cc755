"""Plain prompts of two answers, as other judges are asked them, and answers in the form that they ask for.

Two forms are read: the marked answers of MT-Bench, RewardBench and Arena-Hard (`[The Start of Assistant A's Answer]`,
or `<|The Start of …|>`), and a JSON object `{"A": …, "B": …}`. A mark of an answer that occurs twice makes a
prompt nobody can read safely: an answer may have written it, so it is refused.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judge_r1.judges.result import JudgeResult

Form = Literal["brackets", "arena", "json", "letter"]
_MARK = re.compile(
    r"(?:\[|<\|)\s*(?:"
    r"(?P<question>(?:user|client)?\s*(?:question|prompt))"
    r"|the (?P<edge>start|end) of (?:the )?assistant (?P<who>[ab])['’]s (?:answer|response|conversation(?: with user)?)"
    r")\s*(?:\]|\|>)",
    re.IGNORECASE,
)
_ARENA = re.compile(r"\[\[[AB]>>?[AB]\]\]")
_BRACKETS = re.compile(r"\[\[[ABC]\]\]")
_FIELDS = {"question", "context", "A", "B"}
EXAMPLES = """send a `judge` object, {"model": "judge-r1", "messages": [{"role": "user", "content": "judge"}], \
"judge": {"context": "…", "decision": "…", "reasoning_a": "…", "reasoning_b": "…"}}; or one user message like \
"[User Question]\\n…\\n[The Start of Assistant A's Answer]\\n…\\n[The End of Assistant A's Answer]\\n\
[The Start of Assistant B's Answer]\\n…\\n[The End of Assistant B's Answer]"; or one like \
{"question": "…", "A": "…", "B": "…"}"""


class Unreadable(Exception):
    """A prompt that is not one of the forms; the message says why."""


@dataclass(frozen=True)
class PlainPair:
    """Two answers to a question, and the form in which the better one is asked for."""

    question: str
    context: str
    a: str
    b: str
    form: Form


def read_plain(user: str, system: str = "") -> PlainPair:
    """Errors: Unreadable."""
    if user.lstrip().startswith("{"):
        return _read_json(user)
    found = list(_MARK.finditer(user))
    marks = [mark for mark in found if not mark["question"]]
    names = [f"{mark['edge']} {mark['who']}".lower() for mark in marks]
    rounds = ["start a", "end a", "start b", "end b"]
    if names != rounds:
        if not marks:
            raise Unreadable("there are no two answers in it")
        raise Unreadable(f"its marks must be these, once each and in order: {', '.join(rounds)}; it has {names}")
    start_a, end_a, start_b, end_b = marks
    asked = next((mark for mark in found if mark["question"] and mark.end() <= start_a.start()), None)
    head = user[: asked.start()] if asked else ""
    outside = "\n".join([system, head, user[end_a.end() : start_b.start()], user[end_b.end() :]])
    a, b = user[start_a.end() : end_a.start()].strip(), user[start_b.end() : end_b.start()].strip()
    if not a or not b:
        raise Unreadable("one of the answers is blank")
    question = user[asked.end() if asked else 0 : start_a.start()].strip()
    return PlainPair(question, "", a, b, _form(outside if asked else outside + question))


def answer_in(form: Form, found: JudgeResult) -> str:
    """The verdict as it is asked for. What the judge wrote stands in JSON only, where it can pass for nothing else."""
    if form == "json":
        return json.dumps(
            {
                "winner": found.winner,
                "violated_principles": list(found.principles),
                "explanation": found.explanation,
                "confidence": found.confidence,
                "ended": found.ended,
            }
        )
    if found.winner is None:
        return f"no valid answer ({found.ended})"
    if form == "letter":
        return found.winner
    tie = found.winner == "tie"
    if form == "arena":
        mark = "A=B" if tie else "A>B" if found.winner == "A" else "B>A"
    else:
        mark = "C" if tie else found.winner
    said = "The answers are as good as each other." if tie else f"The answer of assistant {found.winner} is better."
    named = f" The other one violates: {', '.join(found.principles)}." if found.principles else ""
    return f"{said}{named}\n\n[[{mark}]]"


def text_of(content: Any) -> str:
    """The text of a message, which may come in parts. Errors: Unreadable where there is anything but text."""
    if isinstance(content, str):
        return content
    parts: Sequence[Any] = content if isinstance(content, list) else [None]
    texts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise Unreadable("a message has something else than text")
    return "\n".join(text for text in texts if text)


def _read_json(user: str) -> PlainPair:
    try:
        said = json.loads(user)
    except ValueError:
        raise Unreadable("it begins as JSON and is none") from None
    except RecursionError:
        raise Unreadable("it is JSON of more levels than can be read") from None
    if not {"A", "B"} <= said.keys() <= _FIELDS or not all(isinstance(value, str) for value in said.values()):
        raise Unreadable("as JSON it must have A and B, may have question and context, and each must be a text")
    if not said["A"].strip() or not said["B"].strip():
        raise Unreadable("one of the answers is blank")
    return PlainPair(said.get("question", ""), said.get("context", ""), said["A"], said["B"], "json")


def _form(asked: str) -> Form:
    return "arena" if _ARENA.search(asked) else "brackets" if _BRACKETS.search(asked) else "letter"
