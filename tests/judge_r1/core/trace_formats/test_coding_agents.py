"""Sessions of Claude Code and rollouts of Codex, by hand after their formats; a trajectory that is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge_r1.core.trace import Event
from judge_r1.core.trace_formats import BadTrace, read_events

TASK = "The test test_discount in tests/test_cart.py fails."
CLAIM = "Fixed: I corrected the rounding in cart.py and the whole suite passes (42 tests)."
TOOLS = ["Bash", "Read", "TodoWrite", "Edit", "Bash"]


def lines(folder: Path, *records: Any) -> list[Event]:
    path = folder / "trace.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    return list(read_events(path))


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["claude_code_session.jsonl", "claude_code_stream.jsonl"])
def test_a_session_of_claude_code(real_data: Path, name: str) -> None:
    events = list(read_events(real_data / "traces" / name))
    own = [event for event in events if not event.role.startswith("sub-agent/")]
    assert own[0].text.startswith(TASK)
    assert (own[1].kind, own[1].text) == ("thought", "Let me look at the failing test first.")
    assert (own[-1].role, own[-1].text) == ("assistant", CLAIM)
    assert [event.tool for event in own if event.kind == "call"] == TOOLS
    results = [event for event in own if event.kind == "result"]
    assert sorted(str(event.tool) for event in results) == sorted(TOOLS)
    assert [event.error for event in results] == [True, False, False, False, False]
    assert [event.text for event in events].count(CLAIM) == 1
    extra = [event.text for event in events if event.role == "sub-agent/user" or event.meta.get("queued")]
    other = [line["type"] for line in events[0].meta["trace"]["other_lines"]]
    if "session" in name:
        assert extra == ["Search for other uses of total()", "also bump the version"]
        assert other == ["summary", "file-history-snapshot"]
    else:
        assert (extra, other) == ([], ["system", "result"])


@pytest.mark.real_data
def test_a_rollout_of_codex(real_data: Path) -> None:
    events = list(read_events(real_data / "traces" / "codex_rollout.jsonl"))
    assert [(event.kind, event.name, event.error) for event in events] == [
        ("message", "user", False), ("thought", "assistant", False), ("call", "shell", False),
        ("result", "shell", True), ("call", "apply_patch", False), ("result", "apply_patch", False),
        ("message", "assistant", False),
    ]  # fmt: skip
    assert events[3].text == "1 failed, 6 passed"
    assert events[4].text.startswith("*** Begin Patch")
    assert events[-1].text == "All tests pass."


def claude(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": role,
        "sessionId": "s",
        "message": {"role": role, "content": content, **more.pop("message", {})},
        **more,
    }


def test_sub_agents_of_claude_code_have_marked_calls(tmp_path: Path) -> None:
    use = [{"type": "tool_use", "id": "t", "name": "Grep", "input": {"q": 1}}]
    answer = [{"type": "tool_result", "tool_use_id": "t", "content": "none"}]
    events = lines(
        tmp_path, claude("user", "Go."), claude("assistant", use, isSidechain=True),
        claude("user", answer, isSidechain=True), {"type": "result", "is_error": True, "result": "Out of turns."},
    )  # fmt: skip
    assert [event.name for event in events] == ["user", "sub-agent/Grep", "sub-agent/Grep", "assistant"]
    assert events[-1].text == "Out of turns."


def test_the_lines_of_a_message_are_one_and_a_repeated_line_is_left_out(tmp_path: Path) -> None:
    parts = [[{"type": "text", "text": text}] for text in ("One.", "Two.")]
    one, two = (claude("assistant", part, message={"id": "m"}, uuid=str(n)) for n, part in enumerate(parts))
    events = lines(tmp_path, claude("user", "Go."), one, two, two)
    assert [event.text for event in events] == ["Go.", "One.\nTwo."]


def test_a_message_that_only_an_event_of_codex_holds(tmp_path: Path) -> None:
    def said(text: str) -> dict[str, Any]:
        return {"type": "event_msg", "payload": {"type": "agent_message", "message": text}}

    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}
    output = {"type": "function_call_output", "call_id": "c", "output": "Exit code: 2\nOutput:\nbad"}
    events = lines(
        tmp_path, said("No."), said("Yes."), *({"type": "response_item", "payload": one} for one in (item, output))
    )
    assert [(event.text, event.error) for event in events] == [
        ("No.", False),
        ("Yes.", False),
        (output["output"], True),
    ]


def test_a_trajectory_of_swe_agent_is_refused_by_name(tmp_path: Path) -> None:
    record = {"trajectory": [{"action": "ls", "observation": "a"}], "history": [{"role": "user"}]}
    with pytest.raises(BadTrace, match="SWE-agent, which is not read: give its list of messages"):
        lines(tmp_path, record)
