"""Sessions and trajectories of coding agents and of ADK: by hand after their formats, or as their packages wrote them
with scripted models (the version is in the file's name); a trajectory that is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge_r1.traces import BadTrace, Unread, read_events
from judge_r1.traces.trace import Event

DATA = Path(__file__).parent / "data"
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


def test_what_is_known_and_not_read_is_refused_by_name(tmp_path: Path) -> None:
    record = {"trajectory": [{"action": "ls", "observation": "a"}], "history": [{"role": "user"}]}
    with pytest.raises(BadTrace, match="SWE-agent, which is not read: give its list of messages"):
        lines(tmp_path, record)
    state = {"$schemaVersion": "1.9", "original_input": "Fix it.", "model_responses": []}
    with pytest.raises(BadTrace, match=r"Agents SDK, which is not read: give its items, .*to_input_list"):
        lines(tmp_path, state)


def story(path: Path, **counted: int) -> list[tuple[str, str, str]]:
    unread = Unread()
    events = list(read_events(path, unread=unread))
    assert unread.keys == counted
    return [(event.kind, event.name + "!" * event.error, event.text.strip()) for event in events]


MINI = [
    ("message", "assistant", "I look at the file first."), ("call", "bash", "command: cat calc.py"),
    ("result", "bash", '{\n  "returncode": 0,\n  "output": "def add(a, b):\\n    return a - b\\n"\n}'),
]  # fmt: skip


def test_a_trajectory_of_mini_swe_agent_with_a_chat_model() -> None:
    found = story(DATA / "mini_swe_agent_2.4.6_chat.json")
    assert found[2:5] == MINI
    assert [text for kind, name, text in found if name == "exit"] == ["Submitted"]
    assert len([kind for kind, *_ in found if kind == "call"]) == 3


def test_a_trajectory_of_mini_swe_agent_with_a_responses_model() -> None:
    found = story(DATA / "mini_swe_agent_2.4.6_responses.json")
    assert found[2] == ("message", "assistant", "I have no call.")
    assert found[3][:2] == ("message", "user")
    assert found[4:8] == [("thought", "assistant", "Step 0."), *MINI]
    assert found[-3:] == [
        ("message", "assistant", "It is fixed."),
        ("call", "bash", "command: echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"), ("message", "exit", "Submitted"),
    ]  # fmt: skip


def test_a_failed_command_of_mini_swe_agent_is_marked(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command": "false"}'}}
    output = {
        "role": "tool",
        "tool_call_id": "c",
        "content": "no",
        "extra": {"returncode": 1, "raw_output": "all of it"},
    }
    record = {
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {"config": {"x": "A setting."}},
        "messages": [{"role": "assistant", "content": "", "tool_calls": [call]}, output],
    }
    (path := tmp_path / "t.json").write_text(json.dumps(record))
    unread = Unread()
    assert [(one.kind, one.error) for one in read_events(path, unread=unread)] == [("call", False), ("result", True)]
    assert unread.keys == {"raw_output": 1}


def test_a_session_of_adk() -> None:
    assert story(DATA / "adk_2.13.0_session.json") == [
        ("message", "user", "What is 1 + 2?\n[image/png]"), ("thought", "assistant", "First I add."),
        ("call", "add", "a: 1\nb: 2"), ("result", "add", "3"), ("call", "fail", "path: x.txt"),
        ("result", "fail!", "no such file: x.txt"), ("message", "assistant", "It is 3."),
        ("message", "actions", 'stateDelta: {"answer": "It is 3."}'),
    ]  # fmt: skip


def test_objects_that_a_tool_of_adk_returns_and_what_it_stores_are_whole() -> None:
    found = story(DATA / "adk_2.13.0_values.json")
    assert [text for kind, _, text in found if kind == "result"] == [
        '{"type": "refund", "amount": 250, "status": "paid"}\n{"type": "refund", "amount": 99, "status": "open"}',
        '{"id": "doc_3", "text": "Paris is nice.", "score": 0.92, "name": "Ana"}', "done",
    ]  # fmt: skip
    stored = 'state_delta: {"status": "paid", "count": 3, "note": "late fee", "approved": true}'
    assert ("message", "actions", stored) in found


def test_content_blocks_of_langchain() -> None:
    assert story(DATA / "langchain_core_1.8.3_blocks.json") == [
        ("message", "user", "What is on it?\n[image]\nurl: https://a.org/b.png"),
        ("thought", "assistant", "I look it up."), ("call", "web_search", "query: sums"),
        ("result", "web_search", '{"title": "Sums", "url": "https://a.org/sums"}'),
        ("message", "assistant", "I add."), ("call", "add", "a: 1\nb: 2"), ("result", "add!", "no numbers"),
        ("message", "assistant", "It is 3."),
    ]  # fmt: skip


CLI = [
    ("message", "user", "What is wrong in calc.py?"), ("call", "read_file", "file_path: calc.py"),
    ("message", "assistant", "It lacks a line."), ("call", "read_file", "file_path: missing.py"),
    ("message", "assistant", "The function add subtracts."),
]  # fmt: skip


def test_a_session_of_gemini_cli_and_its_stream() -> None:
    session = story(DATA / "gemini_cli_0.61.0_session.jsonl", resultDisplay=1, description=1)
    assert session[0][1] == "system"
    assert [one for one in session if one[0] not in ("result", "thought")][1:] == CLI
    assert [one for one in session if one[0] in ("result", "thought")] == [
        ("thought", "assistant", "Looking\nI look at the file first."),
        ("result", "read_file", "def add(a, b):\n    return a - b"),
        ("result", "read_file!", "File not found: /home/user/calc/missing.py"),
    ]
    stream = story(DATA / "gemini_cli_0.61.0_stream.jsonl")
    assert [one for one in stream if one[0] != "result"] == CLI
    assert [text for kind, _, text in stream if kind == "result"] == [
        "[the stream holds no output of this call]",
        "File not found.\nmessage: File not found: /home/user/calc/missing.py",
    ]


def test_pieces_and_changes_of_gemini_cli(tmp_path: Path) -> None:
    def line(kind: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "timestamp": "2026-01-01T00:00:00Z", **more}

    pieces = [line("message", role="assistant", content=text, delta=True) for text in ("Do", "ne.")]
    end = line("result", status="error", error={"type": "x", "message": "Out of turns."})
    events = lines(tmp_path, line("init", session_id="s", model="m"), *pieces, end)
    assert [event.text for event in events] == ["Done.", "message: Out of turns."]

    def said(name: str, text: str) -> dict[str, Any]:
        return {"id": name, "type": "user", "content": text}

    head = {"sessionId": "s", "projectHash": "p"}
    events = lines(tmp_path, head, said("1", "A"), {"$rewindTo": "1"}, said("2", "B"), {"$set": {"summary": "C"}})
    assert [event.text for event in events] == ["A", "(went back to message 1)", "B"]


def test_the_last_answer_alone_of_gemini_cli_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadTrace, match="has only the last answer: use --output-format stream-json"):
        lines(tmp_path, {"session_id": "s", "response": "Done.", "stats": {"models": {}, "tools": {}}})


def test_events_of_the_sdk_of_openhands(tmp_path: Path) -> None:
    def event(kind: str, source: str, **more: Any) -> dict[str, Any]:
        return {"id": f"{kind}-1", "kind": kind, "source": source, "timestamp": "2026-01-01T00:00:00", **more}

    def text(value: str) -> dict[str, str]:
        return {"type": "text", "text": value}

    used = {"tool_name": "terminal", "tool_call_id": "c"}
    call = {"id": "c", "name": "terminal", "arguments": '{"command": "ls", "summary": "List"}', "origin": "completion"}
    records = [
        event("SystemPromptEvent", "agent", system_prompt=text("Be exact."), tools=[{"description": "Runs."}]),
        event("MessageEvent", "user", llm_message={"role": "user", "content": [text("Fix it.")]},
              extended_content=[text("A rule.")]),
        event("ActionEvent", "agent", thought=[text("I list.")], reasoning_content="First A.", tool_call=call,
              action={"kind": "TerminalAction", "command": "ls"}, summary="List", **used),
        event("ObservationEvent", "environment", observation={"content": [text("no")], "is_error": True}, **used),
        event("AgentErrorEvent", "agent", error="It broke.", **used),
        event("ConversationStateUpdateEvent", "environment", key="x", value={"y": "A state."}),
    ]  # fmt: skip
    (path := tmp_path / "t.json").write_text(json.dumps(records))
    unread = Unread()
    events = list(read_events(path, unread=unread))
    assert [(one.kind, one.name + "!" * one.error, one.text) for one in events] == [
        ("message", "system", "Be exact."), ("message", "user", "Fix it."), ("message", "system", "A rule."),
        ("thought", "assistant", "First A."), ("message", "assistant", "I list."),
        ("call", "terminal", "command: ls\nsummary: List"), ("result", "terminal!", "no"),
        ("result", "terminal!", "It broke."),
    ]  # fmt: skip
    assert unread.keys == {"key": 1, "y": 1}
    assert [one["kind"] for one in events[0].meta["trace"]["other_lines"]] == ["ConversationStateUpdateEvent"]


def test_a_trajectory_of_openhands_0(tmp_path: Path) -> None:
    calls = [{"id": "c", "function": {"name": "execute_bash", "arguments": '{"command": "ls"}'}}]
    message = {"role": "assistant", "content": "I list.", "reasoning_content": "First A.", "tool_calls": calls}
    about = {
        "function_name": "execute_bash",
        "tool_call_id": "c",
        "model_response": {"choices": [{"message": message}]},
    }
    records = [
        {"source": "user", "action": "message", "args": {"content": "Fix it."}, "message": "Fix it."},
        {"source": "agent", "action": "run", "args": {"command": "ls", "thought": "I list.", "hidden": False},
         "message": "Running command: ls", "tool_call_metadata": about},
        {"source": "agent", "observation": "run", "content": "no", "extras": {"command": "ls", "metadata":
         {"exit_code": 2}}, "message": "Command `ls` executed", "tool_call_metadata": about},
        {"source": "agent", "action": "finish", "args": {"thought": "Done.", "outputs": {}}, "message": "All done!"},
    ]  # fmt: skip
    expected = [
        ("message", "user", "Fix it."), ("thought", "assistant", "First A."), ("thought", "assistant", "I list."),
        ("call", "execute_bash", "command: ls"), ("result", "execute_bash!", "no"), ("message", "assistant", "Done."),
    ]  # fmt: skip
    for value in (records, {"instance_id": "i", "history": records}):  # the extras hold the command again
        (path := tmp_path / "t.json").write_text(json.dumps(value))
        assert story(path, command=1, message=3) == expected


def test_a_code_agent_of_smolagents() -> None:
    assert story(DATA / "smolagents_1.26.0_code.json")[2:5] == [
        ("message", "assistant", "Thought: I add.\n<code>\nprint(add(1, 2))\n</code>"),
        ("call", "python_interpreter", "print(add(1, 2))"),
        ("result", "unknown", "Execution logs:\n3\nLast output from code snippet:\nNone"),
    ]


def test_a_run_of_the_openai_agents_sdk() -> None:
    assert story(DATA / "openai_agents_0.24.0.json") == [
        ("message", "user", "What is 1 + 2?"), ("thought", "assistant", "I add."), ("call", "add", "a: 1\nb: 2"),
        ("result", "add", "3"), ("message", "assistant", "It is 3."),
    ]  # fmt: skip
