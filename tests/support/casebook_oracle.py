"""A chat endpoint that knows the pairs of `casebook`: it names the better reasoning and each violated principle.

    with JudgeServer(oracle(load_part("test").pairs)) as server: ...

A judge that may search asks once for the words of the flaw before it answers.
"""

import json
from collections.abc import Sequence
from typing import Any

from fake_judge_endpoint import Answer, chat_completion

from judge_r1.core.records import ReasoningPair


def oracle(pairs: Sequence[ReasoningPair]) -> Answer:
    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        texts = [str(message["content"]) for message in body["messages"]]
        [pair] = [pair for pair in pairs if pair.flawed in texts[1] and pair.reference in texts[1]]
        first = texts[1].index(pair.reference) < texts[1].index(pair.flawed)
        verdict = json.dumps({"comparison": "A>B" if first else "A<B", "violated_principles": pair.violated})
        if "</search>" not in (body.get("stop") or ()):
            return chat_completion(verdict)
        span = pair.origin.flaws[0].span
        return chat_completion(
            f"<search>{pair.flawed[span.start : span.end]}" if len(texts) == 2 else f"<answer>{verdict}"
        )

    return answer
