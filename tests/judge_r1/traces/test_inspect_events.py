"""Logs that Inspect writes of agents with scripted models, whose acts stand only in the events of their samples."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from judge_r1.traces import Unread, read_events
from judge_r1.traces.trace import Event, trace_case

inspect_ai = pytest.importorskip("inspect_ai", reason="the inspect_ai package is in the extra dev")
from inspect_ai import Task  # noqa: E402
from inspect_ai.agent import as_tool, handoff, react  # noqa: E402
from inspect_ai.approval import Approval, ApprovalPolicy, approver  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.log import ProvenanceData, read_eval_log, write_eval_log  # noqa: E402
from inspect_ai.model import (  # noqa: E402
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ContentToolUse,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import model_graded_qa  # noqa: E402
from inspect_ai.tool import ToolCall, ToolError, tool  # noqa: E402

LONG = "the sum is known " * 20
"""So long that Inspect keeps it beside the events, as an attachment."""


@tool
def add() -> Any:
    async def execute(a: int, b: int) -> str:
        """Add two numbers.

        Args:
            a: One.
            b: Another.
        """
        if a < 0:
            raise ToolError("no negative numbers")
        return f"{a + b}: {LONG}"

    return execute


def said(*content: Any, stop: Any = "stop") -> ModelOutput:
    message = ChatMessageAssistant(content=list(content), model="mockllm/model")
    return ModelOutput.from_message(message, stop_reason=stop)


def call(name: str, text: str = "", **arguments: Any) -> ModelOutput:
    return ModelOutput.for_tool_call("mockllm/model", name, arguments, content=text)


def scripted(outputs: Sequence[ModelOutput]) -> Any:
    for output in outputs:
        output.usage = ModelUsage(input_tokens=7, output_tokens=3)  # else it downloads a vocabulary
    return get_model("mockllm/model", custom_outputs=outputs)


def logged(folder: Path, agent: Any, outputs: Sequence[ModelOutput], *, format: str = "eval", **more: Any) -> Path:
    sample = Sample(input=f"What is 1 + 2? {LONG}", target="3")
    task = Task(dataset=[sample], solver=agent, **more)
    [log] = inspect_ai.eval(
        task, model=scripted(outputs), log_dir=str(folder), display="none", log_format=format, score_display=False
    )
    assert log.status == "success", log.error
    return Path(log.location)


def read(path: Path, *, count: int = 0) -> list[Event]:
    unread = Unread()
    found = list(read_events(path, unread=unread))
    assert unread.count == count, unread.keys
    return found


def lines(events: Sequence[Event]) -> list[str]:
    return [f"{event.kind} {event.name}: {event.text.splitlines()[0] if event.text else ''}" for event in events]


@pytest.fixture(autouse=True)
def _quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.mark.parametrize("format", ["eval", "json"])
def test_sub_agents_server_tools_and_reasoning_once_and_in_order(tmp_path: Path, format: str) -> None:
    search = ContentToolUse(
        tool_type="web_search",
        id="w1",
        name="web_search",
        arguments='{"query": "sums"}',
        result="nothing",
        error="late",
    )
    outputs = [
        said(
            ContentReasoning(reasoning="All my thoughts.", summary="Thoughts."), ContentText(text="I search."), search
        ),
        call("helper", "I ask.", input="add them"),
        call("add", "I add.", a=1, b=2),
        call("add", "I add again.", a=-1, b=2),
        call("submit", answer="three"),
        call("submit", answer="It is 3."),
    ]
    helper = react(name="helper", description="Adds.", prompt="You add.", tools=[add()])
    grader = model_graded_qa(model=scripted([said(ContentText(text="GRADE: C"))]))
    path = logged(tmp_path, react(tools=[as_tool(helper), add()]), outputs, format=format, scorer=grader)
    events = read(path)
    shown = [line for line in lines(events) if "system" not in line]
    assert shown[0].startswith("message user: What is 1 + 2? the sum is known")
    assert shown[1:7] == [
        "thought assistant: All my thoughts.", "thought assistant: Thoughts.", "message assistant: I search.",
        "call web_search: query: sums", "result web_search: nothing", "message user: ",
    ]  # fmt: skip
    assert shown[7:] == [
        "message assistant: I ask.", "call helper: input: add them", "message sub-agent/user: add them",
        "message sub-agent/assistant: I add.", "call sub-agent/add: a: 1", f"result sub-agent/add: 3: {LONG}",
        "message sub-agent/assistant: I add again.", "call sub-agent/add: a: -1",
        "result sub-agent/add: no negative numbers", "call sub-agent/submit: answer: three",
        "result sub-agent/submit: three", "result helper: three", "call submit: answer: It is 3.",
        "result submit: It is 3.", "message assistant: It is 3.",
    ]  # fmt: skip
    assert [event.name for event in events if event.error] == ["web_search", "sub-agent/add"]
    assert trace_case(events).reference == "It is 3."


def test_calls_before_a_truncation_are_read(tmp_path: Path) -> None:
    steps = [call("add", f"step {number}", a=number, b=1) for number in range(6)]
    outputs = [*steps, said(ContentText(text=""), stop="model_length"), call("submit", answer="7")]
    path = logged(tmp_path, react(prompt="Add.", tools=[add()], truncation="auto"), outputs)
    events = read(path)
    kept = read_eval_log(path).samples[0].messages  # type: ignore[index]
    assert "step 0" not in [message.text for message in kept]
    assert [event.text for event in events if event.text.startswith("step")] == [
        f"step {number}" for number in range(6)
    ]
    assert [event.text[0] for event in events if event.name == "add" and event.kind == "result"] == list("123456")
    assert "message info: Agent exceeded model context window" in "\n".join(lines(events))


def test_what_a_handoff_repeats_is_read_once_and_its_rewritten_messages_are_counted(tmp_path: Path) -> None:
    outputs = [
        call("transfer_to_helper", "I hand off."), call("add", "I add.", a=1, b=2), call("submit", answer="three"),
        call("submit", answer="It is 3."),
    ]  # fmt: skip
    helper = react(name="helper", description="Adds.", prompt="You add.", tools=[add()])
    shown = lines(read(logged(tmp_path, react(tools=[handoff(helper)]), outputs), count=2))
    assert [line for line in shown if "system" not in line][1:] == [
        "message assistant: I hand off.", "call transfer_to_helper: ", "message sub-agent/assistant: I add.",
        "call sub-agent/add: a: 1", f"result sub-agent/add: 3: {LONG}", "call sub-agent/submit: answer: three",
        "result sub-agent/submit: three", "result transfer_to_helper: Successfully transferred to helper.",
        "message user: The helper agent has completed its work.", "call submit: answer: It is 3.",
        "result submit: It is 3.", "message assistant: It is 3.",
    ]  # fmt: skip


def test_a_limit_is_an_event_and_messages_without_events_or_ids_are_read(tmp_path: Path) -> None:
    steps = [call("add", f"step {number}", a=number, b=1) for number in range(6)]
    path = logged(tmp_path, react(tools=[add()]), steps, message_limit=6)
    events = read(path)
    assert lines(events)[-1].startswith("message sample_limit: Message limit reached")
    log = read_eval_log(path, resolve_attachments=True)
    [sample] = log.samples or []
    sample.events, texts = [], [event.text for event in events[:-1]]
    sample.events_data = None
    write_eval_log(log, plain := tmp_path / "plain.json")
    assert [event.text for event in read(plain)] == texts
    data = json.loads(plain.read_text())
    messages = data["samples"][0]["messages"]
    for message in messages:
        del message["id"]
    messages += messages[2:4]  # the agent does the same again
    (tmp_path / "again.json").write_text(json.dumps(data))
    assert [event.text for event in read(tmp_path / "again.json")] == texts + texts[2:5]


@approver
def larger() -> Any:
    async def approve(message: str, call: ToolCall, view: Any, history: Any) -> Approval:
        if call.function != "add":
            return Approval(decision="approve")
        changed = ToolCall(id=call.id, function=call.function, arguments={"a": 100, "b": 200})
        return Approval(decision="modify", modified=changed)

    return approve


def test_a_call_that_an_approver_changed_is_read_as_it_ran(tmp_path: Path) -> None:
    outputs = [call("add", "I add.", a=1, b=2), call("submit", answer="It is 3.")]
    path = logged(tmp_path, react(tools=[add()]), outputs, approval=[ApprovalPolicy(larger(), "*")])
    assert [line for line in lines(read(path)) if "add" in line] == [
        "message assistant: I add.", "call add: a: 1", "call add: a: 100", f"result add: 300: {LONG}",
    ]  # fmt: skip


@pytest.mark.parametrize("format", ["eval", "json"])
def test_an_invalidated_sample_and_a_run_that_was_cancelled_are_noted(tmp_path: Path, format: str) -> None:
    path = logged(tmp_path, react(), [call("submit", answer="5")], format=format)
    log = read_eval_log(str(path))
    assert log.samples
    log.samples[0].invalidation = ProvenanceData(author="ana", reason="a wrong file")
    log.status = "cancelled"
    write_eval_log(log, str(path))
    unread = Unread()
    assert list(read_events(path, unread=unread))
    assert unread.notes == [
        f"{path}: the run was cancelled", f"{path}: sample {log.samples[0].id} is invalidated: a wrong file",
    ]  # fmt: skip
