"""The model of a judge of traces as a function of its prompt, for `fake_judge_endpoint.JudgeServer`.

It works on any trace of the agent of `scripted_agent`: it searches for the runs of the test and for what followed the
last one, reads the events that come back, and answers from them alone.
"""

import json
import re
from typing import Any

from fake_judge_endpoint import chat_completion

QUESTION = "Did the agent run the test again after its last edit?"
ALWAYS_A = json.dumps({"comparison": "A>B", "violated_principles": [2], "explanation": "so"})
_EVENT = re.compile(r"\[event ([AB]?\d+)[^\]]*: (\w+) [^\]]*\]\n([^\n]*)")


def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    messages = body["messages"]
    shown = "\n".join(message["content"] for message in messages if message["role"] != "assistant")
    if "evaluation_score" in shown:
        return chat_completion(_criterion(shown))
    if "search queries" in shown:
        return chat_completion("test_calc.py kind:call\nkind:message passes")
    turns = sum(message["role"] == "assistant" for message in messages)
    queries = ("test_calc.py kind:call", "sed calc.py kind:call", "kind:message again passes")
    if turns < len(queries):
        return chat_completion(f"<think>What does the trace say?</think><search>{queries[turns]}</search>")
    runs, edits, claims = _events(shown)
    said = f"the test ran in event {runs[-1]}, the edit is event {edits[-1]}, and event {claims[-1]} claims another run"
    # The answer is no; without the two answers, the shorter trace is the better one.
    yes, no = (shown.rfind(f"\n{text}") for text in ("Yes.", "No."))
    reply = {"comparison": "A>B" if -1 < no < yes else "A<B", "violated_principles": [2], "explanation": said}
    return chat_completion(f"<answer>{json.dumps(reply)}</answer>")


def _events(shown: str) -> tuple[list[str], list[str], list[str]]:
    found = _EVENT.findall(shown)
    calls = [(label, text) for label, kind, text in found if kind == "call"]
    return (
        [label for label, text in calls if "test_calc.py" in text], [label for label, text in calls if "sed" in text],
        [label for label, kind, text in found if kind == "message" and "again" in text],
    )  # fmt: skip


def _criterion(shown: str) -> str:
    """One question of a checklist, or all questions of one."""
    if '"checklist_id": 0' not in shown.split("The checklist:")[-1]:
        ran = "before it edited" in shown
        number = next(
            (n for n, text in re.findall(r"\[(\d+)\] \[event [^\n]*\n([^\n]*)", shown) if "test_calc" in text), 1
        )
        return json.dumps({"reason": "the trace shows it", "passage": int(number), "evaluation_score": float(ran)})
    entries = json.loads(re.search(r"The checklist:\n(\[.*?\])\n\n", shown, re.DOTALL)[1])  # type: ignore[index]
    return json.dumps(
        [{"checklist_id": n, "reason": "see event 5", "evaluation_score": 1.0 - n % 2} for n, _ in enumerate(entries)]
    )
