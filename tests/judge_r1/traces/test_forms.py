"""Where writers put texts: beside and below the list of messages, and in parts, blocks and items of their own."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge_r1.traces import BadTrace, Unread, read_events

ASK: dict[str, Any] = {"role": "user", "content": "Fix it."}
SAY: dict[str, Any] = {"role": "assistant", "content": "Done."}
STORY = [("message", "user", "Fix it."), ("message", "assistant", "Done.")]


def story(folder: Path, value: Any) -> list[tuple[str, str, str]]:
    (path := folder / "trace.json").write_text(json.dumps(value))
    unread = Unread()
    events = list(read_events(path, unread=unread))
    assert unread.count == 0
    return [(event.kind, f"{event.name}!" if event.error else event.name, event.text) for event in events]


@pytest.mark.parametrize(
    "value",
    [
        {"input": [ASK], "output": SAY},
        {"output": SAY, "input": [ASK], "id": "o1", "type": "GENERATION"},
        {"input": {"messages": [ASK]}, "output": {"messages": [ASK, SAY]}},
        {"input": [ASK], "output": "Done."},
        {"input": [ASK], "output": ["Done."]},
        {"input": "Fix it.", "messages": [ASK, SAY], "final_output": "Done."},
        {"prompt": "Fix it.", "completion": [SAY]},
        {"messages": [ASK], "choices": [{"index": 0, "finish_reason": "stop", "message": SAY}]},
        {"choices": [{"message": SAY}], "messages": [ASK]},
        {"request": {"messages": [ASK], "model": "m"}, "response": {"id": "r", "choices": [{"message": SAY}]}},
        {"body": {"messages": [ASK]}, "response": {"body": {"choices": [{"message": SAY}]}}},
        {"messages": [ASK], "response": SAY},
        {"messages": [ASK], "response": "Done."},
        {"input": [ASK, {"type": "message", **SAY, "content": [{"type": "output_text", "text": "Done."}]}],
         "final_output": "Done."},
        {"instructions": None, "input": "Fix it.", "text": {"format": {"type": "text"}, "verbosity": "medium"},
         "reasoning": {"effort": "high", "summary": "auto"}, "output": [
             {"type": "message", **SAY, "content": [{"type": "output_text", "text": "Done."}]}]},
        {"input": "Fix it.", "tools": [{"type": "function", "name": "bash", "description": "Runs a command."}],
         "output": [{"type": "message", **SAY, "content": [{"type": "output_text", "text": "Done."}]}]},
    ],
)  # fmt: skip
def test_texts_beside_and_below_the_list(tmp_path: Path, value: Any) -> None:
    assert story(tmp_path, value) == STORY


def test_a_final_output_that_no_message_repeats_is_the_last_one(tmp_path: Path) -> None:
    assert story(tmp_path, {"messages": [ASK], "output": {"content": "No role."}}) == [
        STORY[0], ("message", "assistant", '{"content": "No role."}'),
    ]  # fmt: skip
    value = {"messages": [ASK, SAY], "final_output": {"sum": 3}}
    assert story(tmp_path, value) == [*STORY, ("message", "assistant", '{"sum": 3}')]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"messages": [ASK], "choices": [{"message": SAY}, {"message": SAY}]}, "holds several choices of an answer"),
        ({"messages": [ASK], "choices": [{"message": SAY, "note": "It broke."}]}, "the key 'note'"),
        ({"messages": [ASK], "output": SAY, "completion": SAY}, r"several lists of messages \(messages, completion, "),
        ({"input": [ASK], "output": {**SAY, "note": "It broke."}}, "the key 'note'"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, value: Any, reason: str) -> None:
    with pytest.raises(BadTrace, match=reason):
        story(tmp_path, value)


def thought(*texts: str) -> list[tuple[str, str, str]]:
    return [STORY[0], *(("thought", "assistant", text) for text in texts), STORY[1]]


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        ({"reasoning": "First A.", "reasoning_details": [{"type": "reasoning.text", "text": "First A.", "format": "x",
                                                          "signature": "s", "index": 0}]}, ["First A."]),
        ({"reasoning_details": [{"type": "reasoning.summary", "summary": "A."},
                                {"type": "reasoning.text", "text": "B."},
                                {"type": "reasoning.encrypted", "data": "c2VjcmV0"}]}, ["A.\nB."]),
        ({"reasoning_content": "First A.", "thinking_blocks": [{"type": "thinking", "thinking": "First A."}]},
         ["First A."]),
        ({"reasoning_content": "Then B.", "reasoning": "First A."}, ["Then B.", "First A."]),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "A."}]}, {"type": "text",
                                                                                       "text": "Done."}]}, ["A."]),
        ({"content": [{"type": "reasoning", "text": "A."}, {"type": "text", "text": "Done."}]}, ["A."]),
        ({"content": [{"type": "redacted_thinking", "data": "c2VjcmV0"}, {"type": "text", "text": "Done."}]},
         ["[redacted_thinking]"]),
    ],
)  # fmt: skip
def test_thoughts(tmp_path: Path, fields: dict[str, Any], texts: list[str]) -> None:
    assert story(tmp_path, [ASK, {**SAY, **fields}]) == thought(*texts)


DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "The rent is 900."}}
SEARCHED = {
    "type": "web_search_result",
    "title": "A page",
    "url": "https://a.b/c",
    "encrypted_content": "x",
    "page_age": "May",
}


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({**DOCUMENT, "title": "Lease", "context": "Signed."}, "The rent is 900.\ntitle: Lease\ncontext: Signed."),
        ({"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "A."}]}}, "text: A."),
        ({"type": "document", "title": "Lease", "source": {"type": "base64", "media_type": "application/pdf",
                                                           "data": "JVBERi0="}}, "title: Lease"),
        ({"type": "search_result", "title": "T", "source": "s", "content": [{"type": "text", "text": "A."}]},
         "title: T\nA."),
        ({"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "Line 1."}},
         "uri: file:///a\nLine 1."),
        ({"type": "resource", "resource": {"uri": "file:///a", "mimeType": "image/png", "blob": "aGk="}},
         "uri: file:///a"),
        ({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}},
         "filename: a.pdf"),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}, "[image]"),
        ({"type": "text", "text": "A.", "citations": [
            {"type": "char_location", "cited_text": "B.", "document_title": "T"}]},
         "A.\n[char_location]\ncited_text: B.\ndocument_title: T"),
    ],
)  # fmt: skip
def test_documents_and_resources(tmp_path: Path, part: Any, text: str) -> None:
    text = text.removeprefix("text: ")
    assert story(tmp_path, [{"role": "user", "content": [part]}, SAY]) == [("message", "user", text), STORY[1]]
    result = {"type": "tool_result", "tool_use_id": "t", "content": [part]}
    assert story(tmp_path, [{"role": "user", "content": [result]}, SAY]) == [("result", "unknown", text), STORY[1]]


@pytest.mark.parametrize(
    ("tool", "content", "text", "error"),
    [
        ("web_search", [SEARCHED], "title: A page\nurl: https://a.b/c\npage_age: May", False),
        ("web_search", {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
         "error_code: max_uses_exceeded", True),
        ("web_fetch", {"type": "web_fetch_result", "url": "https://a.b", "retrieved_at": "2026-01-01T00:00:00Z",
                       "content": DOCUMENT}, "url: https://a.b\nThe rent is 900.", False),
        ("code_execution", {"type": "code_execution_result", "stdout": "3", "stderr": "", "return_code": 0,
                            "content": []}, "3\nreturn_code: 0", False),
        ("bash_code_execution", {"type": "bash_code_execution_result", "stdout": "", "stderr": "no such file",
                                 "return_code": 1, "content": []}, "stderr: no such file\nreturn_code: 1", True),
        ("text_editor_code_execution", {"type": "text_editor_code_execution_view_result", "content": "a = 1",
                                        "file_type": "text"}, "a = 1\nfile_type: text", False),
        ("lab", {"type": "rounding_error", "value": 0.1}, '{"type": "rounding_error", "value": 0.1}', False),
    ],
)  # fmt: skip
def test_tools_of_anthropics_server(tmp_path: Path, tool: str, content: Any, text: str, error: bool) -> None:
    used = {"type": "server_tool_use", "id": "s", "name": tool, "input": {"x": 1}}
    result = {"type": f"{tool}_tool_result", "tool_use_id": "s", "content": content}
    found = story(tmp_path, [ASK, {"role": "assistant", "content": [used, result, {"type": "text", "text": "Done."}]}])
    assert found == [STORY[0], ("call", tool, "x: 1"), ("result", tool + "!" * error, text), STORY[1]]


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ({"type": "web_search_call", "action": {"type": "search", "query": "q", "sources": [{"type": "url", "url":
                                                                                             "https://a"}]}},
         [("call", "web_search", "type: search\nquery: q"), ("result", "web_search", '{"type": "url", "url": "https://a"}')]),
        ({"type": "file_search_call", "queries": ["rent"], "results": [
            {"file_id": "f", "filename": "lease.pdf", "score": 0.9, "text": "The rent is 900."}]},
         [("call", "file_search", '["rent"]'),
          ("result", "file_search", "filename: lease.pdf\nThe rent is 900.")]),
        ({"type": "code_interpreter_call", "code": "print(3)", "container_id": "c", "outputs": [
            {"type": "logs", "logs": "3\n"}, {"type": "image", "url": "data:image/png;base64,aGk="}]},
         [("call", "code_interpreter", "print(3)"), ("result", "code_interpreter", "3\n\n[image]")]),
        ({"type": "computer_call", "call_id": "c", "actions": [{"type": "click", "x": 1, "y": 2}],
          "pending_safety_checks": [{"id": "s", "code": "malicious", "message": "Stop here."}]},
         [("call", "computer", '[{"type": "click", "x": 1, "y": 2}]'),
          ("result", "computer", "code: malicious\nmessage: Stop here.")]),
        ({"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "image_url": "u"}},
         [("result", "unknown", "[computer_screenshot]")]),
        ({"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"], "env": {}}},
         [("call", "local_shell", 'type: exec\ncommand: ["ls"]\nenv: {}')]),
        ({"type": "local_shell_call_output", "id": "c", "output": "a.py"}, [("result", "unknown", "a.py")]),
        ({"type": "shell_call", "call_id": "c", "action": {"commands": ["ls", "false"]}},
         [("call", "shell", 'commands: ["ls", "false"]')]),
        ({"type": "shell_call_output", "call_id": "c", "output": [
            {"stdout": "a.py", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
            {"stdout": "", "stderr": "bad", "outcome": {"type": "exit", "exit_code": 1}}]},
         [("result", "unknown!", "a.py\nexit_code: 0\nstderr: bad\nexit_code: 1")]),
        ({"type": "shell_call_output", "call_id": "c", "output": [
            {"stdout": "", "stderr": "", "outcome": {"type": "timeout"}}]},
         [("result", "unknown!", "outcome: timeout")]),
        ({"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no such file"},
         [("result", "unknown!", "no such file")]),
        ({"type": "mcp_call", "name": "get", "server_label": "s", "arguments": "{}", "error": "not found"},
         [("call", "get", ""), ("result", "get!", "not found")]),
        ({"type": "mcp_list_tools", "server_label": "s", "tools": [{"name": "get", "description": "Gets."}],
          "error": "one failed"},
         [("message", "mcp_list_tools", '{"id": "i", "status": "completed", "server_label": "s", '
           '"tools": [{"name": "get", "description": "Gets."}], '
           '"error": "one failed"}')]),
        ({"type": "mcp_approval_response", "approve": False, "reason": "Not now."},
         [("message", "mcp_approval_response", '{"id": "i", "status": "completed", '
           '"approve": false, "reason": "Not now."}')]),
        ({"type": "image_generation_call", "result": "aGkh" * 60, "revised_prompt": "A red cat"},
         [("call", "image_generation", "A red cat"), ("result", "image_generation", "[image]")]),
        ({"type": "tool_search_output", "tools": [{"name": "get"}, {"name": "put"}]},
         [("result", "unknown", "get, put")]),
        ({"type": "program_output", "call_id": "c", "result": "3"}, [("result", "unknown", "3")]),
        ({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A.", "annotations": [
            {"type": "url_citation", "url": "https://a", "title": "T", "start_index": 0}]}]},
         [("message", "assistant", "A.\n[url_citation]\nurl: https://a\ntitle: T")]),
    ],
)  # fmt: skip
def test_items_of_built_in_tools(tmp_path: Path, item: dict[str, Any], found: list[Any]) -> None:
    first = {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "f"}
    assert story(tmp_path, [first, {"id": "i", "status": "completed", **item}])[1:] == found


def observation(number: int, kind: str, given: Any, answered: Any, **more: Any) -> dict[str, Any]:
    times = {"startTime": f"2026-01-01T00:00:0{number}Z", "endTime": "2026-01-01T00:01:00Z"}
    return {"id": f"o{number}", "type": kind, "name": "bash", "input": given, "output": answered, **times, **more}


def test_observations_of_langfuse(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"cmd": "ls"}'}}
    used, result = {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "content": "no"}
    observed = [
        observation(3, "GENERATION", [ASK, used, result], {"choices": [{"message": SAY}]}),
        observation(0, "AGENT", "Fix it.", "Done."),
        observation(1, "GENERATION", json.dumps([ASK]), used, parentObservationId="o0"),
        observation(2, "TOOL", {"cmd": "ls"}, "no", parentObservationId="o0", level="ERROR", statusMessage="It broke."),
    ]
    expected = [STORY[0], ("call", "bash", "cmd: ls"), ("result", "bash!", "no\nIt broke."), STORY[1]]
    for value in (observed, {"id": "t", "input": "Fix it.", "output": "Done.", "observations": observed}):
        found = story(tmp_path, value)
        assert [one for one in found if one != ("result", "unknown", "no")] == expected
    lost = {**observed[1], "input": "Another text that no event has."}
    with pytest.raises(BadTrace, match="the key 'input'"):
        story(tmp_path, [observed[2], lost])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([{"type": "flat", "rent": 900, "state": "free"}], '{"type": "flat", "rent": 900, "state": "free"}'),
        ([{"text": "Near.", "score": 0.9}, {"rent": 900}], '{"text": "Near.", "score": 0.9}\n{"rent": 900}'),
        ([{"image": "https://a.org/b.png", "rent": 900}], '{"image": "https://a.org/b.png", "rent": 900}'),
        ([0.5, 2], "[0.5, 2]"),
        *(
            ([value], json.dumps(value))
            for value in (
                {"type": "lab_result", "name": "potassium", "value": 5.9, "unit": "mmol/L", "critical": True},
                {"type": "document", "title": "Invoice", "amount": 900},
                {"type": "file", "name": "a.csv", "rows": 3},
                {"type": "tool_result", "content": [{"type": "lab_result", "critical": False}]},
                {"type": "rounding_error", "value": 0.1},
                *({"type": kind, "name": "Ada"} for kind in ("profile", "a/b", "multimedia_note", "imagery_report")),
            )
        ),
        ([["Oslo", 900]], '[["Oslo", 900]]'),
    ],
)
def test_a_list_that_a_tool_returns_is_whole(tmp_path: Path, value: list[Any], text: str) -> None:
    seen = observation(1, "TOOL", {"city": "Oslo"}, value)
    answer = {"functionResponse": {"name": "f", "response": {"result": value}}}
    for trace in ([observation(0, "GENERATION", [ASK], SAY), seen], [{"role": "user", "parts": [answer]}]):
        assert [found for kind, _, found in story(tmp_path, trace) if kind == "result"] == [text]


def test_observations_of_langfuse_are_in_order_whatever_their_fractions_of_a_second(tmp_path: Path) -> None:
    # as the models of langfuse 4.15.6 write 0, 120 and 800 ms
    times = ["2026-11-30T12:00:00Z", "2026-11-30T12:00:00.120000Z", "2026-11-30T12:00:00.800000Z"]
    kinds = [("GENERATION", [ASK], {"role": "assistant", "content": "I look."}), ("TOOL", {"a": 1}, "3")]
    observed = [
        observation(n, *kind, startTime=times[n]) for n, kind in enumerate([*kinds, ("GENERATION", [ASK], SAY)])
    ]
    found = [text for _, _, text in story(tmp_path, observed)]
    assert found == [STORY[0][2], "I look.", "a: 1", "3", STORY[1][2]]


LANGCHAIN: list[tuple[str, dict[str, Any]]] = [
    ("human", {"content": "Fix it.", "response_metadata": {}}),
    ("ai", {
        "content": "", "tool_calls": [{"name": "add", "args": {"a": 1}, "id": "c1", "type": "tool_call"}],
        "invalid_tool_calls": [{"name": "sub", "args": "{bad", "id": "c2", "error": "not JSON"}],
        "additional_kwargs": {"reasoning_content": "First A.", "tool_calls": [{"id": "c1"}]},
    }),
    ("tool", {"content": "three", "tool_call_id": "c1", "name": "add", "status": "error", "artifact": None}),
    ("ai", {"content": "Done."}),
]  # fmt: skip
NAMES = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}


@pytest.mark.parametrize(
    "value",
    [
        [{"type": kind, **own} for kind, own in LANGCHAIN],
        {"messages": [{"type": kind, **own} for kind, own in LANGCHAIN], "answer": "Done."},
        [{"type": kind, "data": {"type": kind, **own}} for kind, own in LANGCHAIN],
        [{"lc": 1, "type": "constructor", "id": ["langchain", "schema", NAMES[kind]], "kwargs": {**own, "type": kind}}
         for kind, own in LANGCHAIN],
    ],
)  # fmt: skip
def test_messages_of_langchain(tmp_path: Path, value: Any) -> None:
    assert story(tmp_path, value) == [
        STORY[0], ("thought", "assistant", "First A."), ("call", "add", "a: 1"), ("call", "sub", "{bad"),
        ("result", "sub!", "not JSON"), ("result", "add!", "three"), STORY[1],
    ]  # fmt: skip


USED = [STORY[0], ("call", "bash", "cmd: ls"), ("result", "bash", "a.py"), STORY[1]]
BROKEN = [*USED[:2], ("result", "bash!", "It broke."), STORY[1]]


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ({"parts": [{"type": "step-start"}, {"type": "tool-bash", "toolCallId": "c", "state": "output-available",
                                             "input": {"cmd": "ls"}, "output": "a.py"},
                    {"type": "text", "text": "Done.", "state": "done"}]}, USED),
        ({"parts": [{"type": "dynamic-tool", "toolName": "bash", "toolCallId": "c", "state": "output-error",
                     "input": {"cmd": "ls"}, "errorText": "It broke."}, {"type": "text", "text": "Done."}]}, BROKEN),
        ({"content": "Done.", "toolInvocations": [{"state": "result", "toolCallId": "c", "toolName": "bash",
                                                   "args": {"cmd": "ls"}, "result": "a.py"}]},
         [USED[0], USED[3], *USED[1:3]]),
        ({"content": [{"toolUse": {"toolUseId": "c", "name": "bash", "input": {"cmd": "ls"}}},
                      {"toolResult": {"toolUseId": "c", "content": [{"text": "It broke."}], "status": "error"}},
                      {"text": "Done."}]}, BROKEN),
        ({"tool_plan": "First A.", "content": "Done."}, [STORY[0], ("thought", "assistant", "First A."), STORY[1]]),
        ({"content": [{"reasoningContent": {"reasoningText": {"text": "A.", "signature": "s"}}}, {"text": "Done."}]},
         [STORY[0], ("thought", "assistant", "A."), STORY[1]]),
    ],
)  # fmt: skip
def test_parts_of_the_ai_sdk_and_of_bedrock(tmp_path: Path, message: Any, found: list[Any]) -> None:
    assert story(tmp_path, [ASK, {"id": "m", "role": "assistant", **message}]) == found


CALL, ANSWER = {"name": "add", "args": {"a": 1}}, {"name": "add", "response": {"result": "three"}}
GEMINI = [
    {"role": "user", "parts": [{"text": "Fix it."}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}]},
    {"role": "model", "parts": [{"text": "First A.", "thought": True},
                                {"functionCall": CALL, "thoughtSignature": "x"}]},
    {"role": "user", "parts": [{"functionResponse": ANSWER}]},
    {"role": "model", "parts": [{"executableCode": {"language": "PYTHON", "code": "1/0"}},
                                {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "by zero"}},
                                {"fileData": {"fileUri": "gs://a", "mimeType": "text/plain"}}]},
]  # fmt: skip
GEMINI_STORY = [
    ("message", "user", "Fix it.\n[image/png]"), ("thought", "assistant", "First A."), ("call", "add", "a: 1"),
    ("result", "add", "three"), ("call", "code_execution", "1/0"), ("result", "code_execution!", "by zero"),
    ("message", "assistant", "fileUri: gs://a"), ("message", "assistant", "Done."),
]  # fmt: skip
LAST = {"role": "model", "parts": [{"text": "Done."}]}


def snake(value: Any) -> Any:
    if isinstance(value, list):
        return [snake(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): snake(own) for name, own in value.items()}


@pytest.mark.parametrize(
    "value",
    [
        [*GEMINI, LAST],
        {"contents": [*GEMINI, LAST]},
        {"contents": GEMINI, "candidates": [{"content": LAST, "finishReason": "STOP"}]},
        {"request": {"contents": GEMINI}, "response": {"candidates": [{"content": LAST}], "modelVersion": "m"}},
        [{"author": "user" if one["role"] == "user" else "agent", "content": one} for one in (*GEMINI, LAST)],
        {"id": "s", "events": [{"author": "agent", "content": one, "invocationId": "i"} for one in (*GEMINI, LAST)]},
    ],
)
def test_contents_with_parts(tmp_path: Path, value: Any) -> None:
    assert story(tmp_path, value) == GEMINI_STORY
    assert story(tmp_path, snake(value))[:6] == GEMINI_STORY[:6]


def test_instructions_and_grounds_of_gemini(tmp_path: Path) -> None:
    grounds = {"webSearchQueries": ["rent"], "groundingChunks": [{"web": {"uri": "https://a", "title": "T"}}]}
    value = {
        "contents": [{"parts": [{"text": "Fix it."}]}],
        "systemInstruction": {"parts": [{"text": "Be exact."}]},
        "candidates": [{"content": LAST, "groundingMetadata": grounds}],
    }
    text = "webSearchQueries: rent\nuri: https://a\ntitle: T"
    expected = [("message", "system", "Be exact."), STORY[0], STORY[1], ("result", "grounding", text)]
    assert story(tmp_path, value) == expected
    del value["systemInstruction"]
    assert story(tmp_path, {**value, "config": {"systemInstruction": "Be exact."}}) == expected


def test_contents_deep_in_a_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadTrace, match="deeper than in one object: give a file with the list itself"):
        story(tmp_path, {"sessions": [{"contents": GEMINI}]})


def test_several_candidates_are_refused(tmp_path: Path) -> None:
    for value in ({"contents": GEMINI, "candidates": [{"content": LAST}] * 2}, {"candidates": [{"content": LAST}] * 2}):
        with pytest.raises(BadTrace, match="give a file with one of them"):
            story(tmp_path, value)


def test_an_error_of_smolagents_is_marked(tmp_path: Path) -> None:
    text = "Call id: call_1\nError:\nno such tool\nNow let's retry"
    found = story(tmp_path, [ASK, {"role": "tool-response", "content": [{"type": "text", "text": text}]}])
    assert found == [STORY[0], ("result", "unknown!", text)]
