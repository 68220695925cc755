"""Deterministic judge answers for fake endpoints: equal messages get equal answers."""

import json
from typing import Any

from factories import ANY_EVENT
from fake_judge_endpoint import chat_completion, error_response

from judge_r1.core.record_base import content_hash


def searching(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """Searches once, then answers by the hash of the messages. One in twelve answers is unreadable, and one in twelve
    is a refusal."""
    messages = body["messages"]
    drawn = int(content_hash(messages[1]["content"], body.get("seed")), 16)
    if "stop" in body and len(messages) == 2:
        return chat_completion(f"looking<search>{ANY_EVENT} {drawn % 5}")
    if drawn % 12 == 0:
        return chat_completion("<answer>neither")
    if drawn % 12 == 1:
        return error_response(400, "maximum context length is 5 tokens")
    comparison = "A>B" if drawn % 3 else "A<B"
    answer = json.dumps({"comparison": comparison, "violated_principles": [drawn % 6 + 1]})
    return chat_completion(f"<answer>{answer}" if "stop" in body else answer)
