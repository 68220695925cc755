"""Request bodies and response parsing of both vendors, without a network."""

from typing import Any

import pytest
from fake_llm_server import Request, read_request, reply
from hypothesis import given
from hypothesis import strategies as st
from teacher_factories import body, request_for, teacher

from data_builders.teachers import TeacherError, TeacherReply, TeacherRequest
from data_builders.teachers.endpoint import EndpointTeacher, FailedRow


def read(wire: EndpointTeacher, data: Any) -> TeacherReply:
    succeeded = {"result": {"type": "succeeded", "message": data}}
    return wire.batch_result(succeeded if wire is ANTHROPIC else {"response": {"status_code": 200, "body": data}})


LOCAL, OPENAI = teacher("chat@http://host/v1#m"), teacher("chat@https://api.openai.com/v1#m")
ANTHROPIC = teacher("chat@anthropic:m")
WIRES: list[tuple[EndpointTeacher, str]] = [(LOCAL, "chat"), (OPENAI, "chat"), (ANTHROPIC, "anthropic")]
REQUESTS = st.builds(
    TeacherRequest,
    system=st.text(max_size=20),
    user=st.text(min_size=1, max_size=20),
    max_tokens=st.integers(1, 10_000),
    temperature=st.floats(0, 2),
    sample=st.integers(0, 9),
)


@pytest.mark.parametrize(("wire", "kind"), WIRES)
@given(sent=REQUESTS)
def test_request_body_has_all_fields(wire: EndpointTeacher, kind: str, sent: TeacherRequest) -> None:
    seen = read_request(kind, body(wire, sent))
    assert (seen.system, seen.user, seen.sample) == (sent.system, sent.user, sent.sample)
    assert (seen.max_tokens, seen.temperature, seen.model) == (sent.max_tokens, sent.temperature, "m")


@pytest.mark.parametrize(("wire", "kind"), WIRES)
@given(text=st.text(), cut=st.booleans())
def test_text_usage_and_truncation_are_parsed(wire: EndpointTeacher, kind: str, text: str, cut: bool) -> None:
    request = Request(kind, "m", "one two", "three", 0, 10, 1.0)
    answer = read(wire, reply(request, text, cut=cut))
    assert (answer.text, answer.finished, answer.model) == (text, not cut, "m-2026")
    assert (answer.input_tokens, answer.output_tokens) == (3, len(text.split()))


def test_openai_gets_the_new_parameter_names_and_other_hosts_the_old_ones() -> None:
    assert "max_tokens" in body(LOCAL, request_for("q"))
    assert body(LOCAL, request_for("q", temperature=1))["temperature"] == 1
    newer = body(OPENAI, request_for("q", temperature=1))
    assert "max_completion_tokens" in newer
    assert not {"max_tokens", "temperature", "seed"} & newer.keys()


def test_a_spec_names_the_field_of_the_token_limit_for_any_host() -> None:
    newer = teacher("chat:token_field=max_completion_tokens@http://host/v1#m")
    assert (newer.name, newer.model.endpoint.url) == (LOCAL.name, LOCAL.model.endpoint.url)
    assert "max_completion_tokens" in body(newer, request_for("q"))
    assert "max_tokens" in body(teacher("chat:token_field=max_tokens@https://api.openai.com/v1#m"), request_for("q"))
    with pytest.raises(TeacherError, match="token_field is max_tokens or max_completion_tokens, not 'tokens'"):
        teacher("chat:token_field=tokens@http://host/v1#m")


def test_several_parts_of_an_answer_are_one_text() -> None:
    data = reply(Request("chat", "m", "", "q", 0, 10, 1.0), "")
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    data["choices"][0]["message"]["content"] = parts
    assert read(LOCAL, data).text == "ab"


def test_keys_are_sent_only_to_their_vendor() -> None:
    assert LOCAL.model.endpoint.key_variables == ("JUDGE_R1_TEACHER_KEY",)
    evil = teacher("chat@https://openai.com.evil.example/v1#m").model.endpoint
    assert evil.key_variables == ("JUDGE_R1_TEACHER_KEY",)
    assert "OPENAI_API_KEY" in OPENAI.model.endpoint.key_variables
    assert LOCAL.model.endpoint.headers(None) == {}


def test_an_answer_without_content_is_empty_and_a_refusal_is_text() -> None:
    data = reply(Request("chat", "m", "", "q", 0, 10, 1.0), "x")
    data["choices"][0]["message"]["content"] = None
    assert (read(LOCAL, data).text, read(LOCAL, data).finished) == ("", True)
    data["choices"][0]["message"]["refusal"] = "no"
    assert (read(LOCAL, data).text, read(LOCAL, data).finished) == ("no", True)


def test_cached_input_is_counted_and_thinking_is_excluded() -> None:
    data = reply(Request("anthropic", "m", "", "q", 0, 10, 1.0), "x")
    data["content"].insert(0, {"type": "thinking", "thinking": "hm"})
    data["usage"] |= {"cache_read_input_tokens": 10, "cache_creation_input_tokens": None}
    assert (read(ANTHROPIC, data).text, read(ANTHROPIC, data).input_tokens) == ("x", 11)


@pytest.mark.parametrize(
    ("wire", "row", "reason"),
    [
        (LOCAL, {"response": None, "error": {"message": "expired"}}, "expired"),
        (LOCAL, {"response": {"status_code": 400, "body": {"error": {"message": "too long"}}}}, "400: too long"),
        (ANTHROPIC, {"result": {"type": "expired"}}, "expired"),
        (ANTHROPIC, {"result": {"type": "errored", "error": {"error": {"message": "bad"}}}}, "bad"),
        (ANTHROPIC, {"result": {"type": "errored", "error": {"message": "bad"}}}, "bad"),
    ],
)
def test_a_failed_row_has_a_reason(wire: EndpointTeacher, row: Any, reason: str) -> None:
    with pytest.raises(FailedRow, match=reason):
        wire.batch_result({"custom_id": "k", **row})
