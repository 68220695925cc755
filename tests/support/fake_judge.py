"""A judge's mind for loopback servers: text for a chat's messages, the same for the same ones."""

import json
from typing import Any

from fake_judge_endpoint import said, sorry

from judge_r1.core.records import content_hash


def searching(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """Searches once, then answers by the hash of what it was asked; one in twelve answers cannot be read, one in
    twelve is refused by name."""
    messages = body["messages"]
    drawn = int(content_hash(messages[1]["content"], body.get("seed")), 16)
    if "stop" in body and len(messages) == 2:
        return said(f"looking<search>fact {drawn % 5}")
    if drawn % 12 == 0:
        return said("<answer>neither")
    if drawn % 12 == 1:
        return sorry(400, "maximum context length is 5 tokens")
    comparison = "A>B" if drawn % 3 else "A<B"
    answer = json.dumps({"comparison": comparison, "violated_principles": [drawn % 6 + 1]})
    return said(f"<answer>{answer}" if "stop" in body else answer)
