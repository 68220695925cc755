"""Chat messages and event lines become events, whole, in order, and as a stream."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge_r1.traces import BadTrace, Masked, Unread, read_events
from judge_r1.traces.trace import Event, trace_case

CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"cmd": "pytest -q"}'}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You fix bugs."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "Fix it."}, {"type": "image_url", "image_url": {"url": "x"}}],
    },
    {"role": "assistant", "content": None, "reasoning_content": "First the tests.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "1 failed", "timestamp": 1772359200},
    {"role": "assistant", "content": "Done.", "usage": {"tokens": 5}},
]
SHORT = [
    ("message", "system", "You fix bugs."), ("message", "user", "Fix it.\n[image_url]"),
    ("thought", "assistant", "First the tests."), ("call", "bash", "cmd: pytest -q"),
    ("result", "bash", "1 failed"), ("message", "assistant", "Done."),
]  # fmt: skip


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def read(folder: Path, text: str, **more: Any) -> list[Event]:
    path = folder / "trace"
    path.write_text(text, encoding="utf-8")
    return list(read_events(path, **more))


def short(events: list[Event]) -> list[tuple[str, str, str]]:
    return [(event.kind, event.name, event.text) for event in events]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(MESSAGES),
        lines(*MESSAGES),
        json.dumps({"messages": MESSAGES}),
        json.dumps({"log": MESSAGES}, indent=1),
    ],
)
def test_messages_in_any_container(tmp_path: Path, text: str) -> None:
    events = read(tmp_path, text)
    assert short(events) == SHORT
    assert [event.index for event in events] == list(range(6))
    assert events[4].time == "2026-03-01T10:00:00.000+00:00"


def test_unknown_fields_stay_in_meta(tmp_path: Path) -> None:
    events = read(tmp_path, json.dumps({"model": "m", "messages": MESSAGES, "score": 0.5}))
    case = trace_case(events)
    assert case.meta["events"] == {
        "0": {"trace": {"model": "m", "score": 0.5}},
        "1": {"parts": [{"type": "image_url", "image_url": {"url": "x"}}]},
        "5": {"usage": {"tokens": 5}},
    }


def test_one_of_several_traces_is_chosen(tmp_path: Path) -> None:
    text = lines({"messages": MESSAGES[:2]}, {"messages": MESSAGES})
    assert short(read(tmp_path, text, number=2)) == SHORT
    assert len(read(tmp_path, text, number=1)) == 2
    with pytest.raises(BadTrace, match="holds several traces: choose one by its number"):
        read(tmp_path, text)
    with pytest.raises(BadTrace, match="holds 2 traces: there is no number 3"):
        read(tmp_path, text, number=3)


def test_event_lines_are_read_as_written(tmp_path: Path) -> None:
    events = read(tmp_path, json.dumps(MESSAGES))
    written = lines(*(event.model_dump(exclude={"index"}) for event in events))
    assert read(tmp_path, written) == events
    assert read(tmp_path, lines(*(event.model_dump() for event in events[2:])))[0].index == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("hello", "is not valid JSON"),
        ('{"steps": [{"do": 1}]}', "holds JSON with steps, steps.item, steps.item.do; known formats: "),
        (json.dumps(MESSAGES)[:-20], "is not valid JSON"),
        (lines(*MESSAGES, ["a"]), "message 5: a message must be an object with a role"),
        ("[" * 60_000 + "]" * 60_000, "nested more than 200 levels"),
        ('[{"role": "user", "content": "x", "n": ' + "9" * 6_000 + "}]", "is not valid JSON"),
        ('[{"role": "user", "content": ' + "[" * 500 + "]" * 500 + "}]", "nested more than 200 levels"),
        ('{"kind": "call", "role": "assistant", "text": "x", "speed": 1}', "event 0: field speed"),
        ('{"kind": "banana", "role": "user", "text": "x"}', "event 0: field kind: Input should be 'message'"),
    ],
)
def test_errors_name_what_was_seen(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadTrace, match=message.replace(".", r"\.")):
        read(tmp_path, text)


def test_a_text_may_hold_any_number_of_digits(tmp_path: Path) -> None:
    [event] = read(tmp_path, json.dumps([{"role": "user", "content": "3." + "1" * 2**20, "seed": 10**20}]))
    assert (len(event.text), event.meta["seed"]) == (2**20 + 2, 10**20)


def test_secrets_are_masked_and_counted(tmp_path: Path) -> None:
    secrets = {
        "sk-proj-abcdefghijklmnopqrstuvwx": "key",
        "hunter2hunter2": "password=",
        "ghp_0123456789abcdefghijABCDEFGHIJ": "git",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln": "Authorization: Bearer ",
        "s3cretpass": "postgres://user:",
    }
    text = "; ".join(f"{before}{' ' * (before[-1] not in ':= ')}{secret}" for secret, before in secrets.items())
    masked = Masked()
    messages = [
        {
            "role": "user",
            "content": f"tokens: 12345678 were read at http://localhost:46377/v1, sk-learn too. {text}@host",
            "api": "AKIAABCDEFGHIJKLMNOP",
            "auth": {"api_key": "plainwords"},
        }
    ]
    [event] = read(tmp_path, json.dumps(messages), masked=masked, unread=Unread(allowed=True))
    assert not [
        secret for secret in (*secrets, "AKIAABCDEFGHIJKLMNOP", "plainwords") if secret in event.model_dump_json()
    ]
    assert masked.count == 7
    assert "12345678 were read at http://localhost:46377/v1, sk-learn too" in event.text


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "assistant", "tool_calls": [{"id": "1", "function": "f"}]}, "event 1 is not valid for the format"),
        ({"role": "assistant", "tool_calls": 3}, "event 1 is not valid for the format chat-messages"),
        ({"role": "tool", "name": 5, "content": "x"}, "event 1 is not valid for the format chat-messages: field tool"),
        ({"role": "assistant", "tool_calls": [{"id": ["1"], "function": {"name": "f"}}]}, "event 1 is not valid for"),
    ],
)
def test_values_of_another_type_are_errors_of_the_trace(tmp_path: Path, message: Any, reason: str) -> None:
    with pytest.raises(BadTrace, match=reason):
        read(tmp_path, json.dumps([MESSAGES[0], message]))


def test_a_span_without_a_time_is_an_error_of_the_trace(tmp_path: Path) -> None:
    span = {"context": {"span_id": "1", "trace_id": "t"}, "attributes": {"gen_ai.x": 1}, "start_time": "yesterday"}
    with pytest.raises(BadTrace, match=r"event 0 is not valid for the format opentelemetry: .*yesterday"):
        read(tmp_path, json.dumps(span))


def test_a_number_as_the_id_of_a_call_is_text(tmp_path: Path) -> None:
    call = {"role": "assistant", "tool_calls": [{"id": 0, "function": {"name": "bash", "arguments": "{}"}}]}
    events = read(tmp_path, json.dumps([call, {"role": "tool", "tool_call_id": 0, "content": "ok"}]))
    assert [(event.name, event.call_id) for event in events] == [("bash", "0"), ("bash", "0")]


def test_a_number_beyond_the_only_trace_is_an_error(tmp_path: Path) -> None:
    assert len(read(tmp_path, lines(*MESSAGES), number=1)) == 6
    with pytest.raises(BadTrace, match="holds 1 trace: there is no number 7"):
        read(tmp_path, lines(*MESSAGES), number=7)


def test_lists_of_messages_that_exclude_each_other_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadTrace, match=r"holds several lists of messages \(chosen, rejected\)"):
        read(tmp_path, json.dumps({"chosen": MESSAGES, "rejected": MESSAGES}))
    events = read(tmp_path, json.dumps({"prompt": MESSAGES[:2], "completion": MESSAGES[2:]}))
    assert short(events) == SHORT


def test_a_tool_use_far_from_the_start_is_a_call(tmp_path: Path) -> None:
    early = [{"role": "user", "content": [{"type": "text", "text": "hello"}]}] * 2500
    used = {"type": "tool_use", "id": "1", "name": "bash", "input": {"cmd": "rm"}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "deleted"}
    late = [{"role": "assistant", "content": [used]}, {"role": "user", "content": [result]}]
    assert short(read(tmp_path, json.dumps([*early, *late])))[-2:] == [
        ("call", "bash", "cmd: rm"), ("result", "bash", "deleted"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password: hunter2", "password: [masked]"),
        ("Log in. Password: hunter2 is it", "Log in. Password: [masked] is it"),
        ("password: correct horse battery\nuser: ana", "password: [masked]\nuser: ana"),
        ("password = correct horse battery", "password = [masked]"),
        ("export DB_PASSWORD=abc123 && run", "export DB_PASSWORD=[masked] && run"),
        ('{"password": "a b\\"c", "user": "ana"}', '{"password": "[masked]", "user": "ana"}'),
        (r"{\"password\": \"a b\", \"user\": 1}", r"{\"password\": \"[masked]\", \"user\": 1}"),
        ("mysql --password hunter2 -u ana", "mysql --password [masked] -u ana"),
        ("passwd: 'x'", "passwd: '[masked]'"),
    ],
)
def test_a_password_is_masked_to_its_end(text: str, masked: str) -> None:
    found = Masked()
    assert found.text(text) == masked
    assert found.text(masked) == masked
    assert found.count == 1


def test_a_field_is_masked_by_its_name() -> None:
    found = Masked()
    assert found.value({"db_password": "a b", "token": "0123456789ab", "has_password": True, "password": 4711}) == {
        "db_password": "[masked]", "token": "[masked]", "has_password": True, "password": "[masked]",
    }  # fmt: skip
    assert found.count == 3


@pytest.mark.parametrize("text", ["max_token: 123456789", "max_tokens=123456789", "maxToken: 123456789", "Password:\n"])
def test_a_number_of_tokens_and_an_empty_prompt_are_no_secrets(text: str) -> None:
    assert Masked().text(text) == text


def test_calls_of_the_ai_sdk_and_of_langchain_and_a_refusal(tmp_path: Path) -> None:
    used = {"type": "tool-call", "toolCallId": "1", "toolName": "bash", "input": {"cmd": "ls"}}
    output = {"type": "error-text", "value": "no such folder"}
    result = {"type": "tool-result", "toolCallId": "1", "toolName": "bash", "output": output}
    events = read(
        tmp_path,
        json.dumps(
            [
                {"role": "assistant", "content": [used]},
                {"role": "tool", "content": [result]},
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"name": "bash", "args": {"cmd": "pwd"}, "id": "2"}],
                },
                {"role": "assistant", "content": None, "refusal": "I cannot."},
            ]
        ),
    )
    assert short(events) == [
        ("call", "bash", "cmd: ls"), ("result", "bash", "no such folder"), ("call", "bash", "cmd: pwd"),
        ("message", "assistant", "I cannot."),
    ]  # fmt: skip
    assert events[1].error
