"""The reward functions of docs/serving.md, as they stand there, against a live server."""

import re
from pathlib import Path
from typing import Any

import pytest
from live_server import LiveServer, Says, service

DOCS = Path(__file__).parents[3] / "docs" / "serving.md"


def from_docs(title: str, url: str) -> dict[str, Any]:
    match = re.search(rf'```python title="{title}"\n(.*?)```', DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert match
    names: dict[str, Any] = {}
    exec(match[1].replace("http://127.0.0.1:8000", url), names)
    return names


def test_trls_reward_function() -> None:
    with LiveServer(service("longer")) as server:
        reward = from_docs("TRL", server.url)["judged_reward"]
        assert reward(["p", "q", "p", "q"], ["a b", "x", "a", "y z"], extra=1) == [1.0, 0.0, 0.0, 1.0]
        chats = [[{"role": "user", "content": "p"}]] * 2
        answers = [[{"role": "assistant", "content": text}] for text in ("", "a b c")]
        assert reward(chats, answers) == [0.0, 1.0]
    with LiveServer(service(Says("no_answer"))) as server:
        assert from_docs("TRL", server.url)["judged_reward"](["p", "p"], ["a", "b"]) == [None, None]


def test_verls_reward_function() -> None:
    with LiveServer(service("longer")) as server:
        score = from_docs("verl", server.url)["compute_score"]
        found = [score("x", text, "two words", {"question": "q"}) for text in ("", "two words", "these three words")]
        assert found == [0.0, 0.5, 1.0]
    with LiveServer(service(Says("no_answer"))) as server, pytest.raises(RuntimeError, match="no valid answer"):
        from_docs("verl", server.url)["compute_score"]("x", "y", "z")
