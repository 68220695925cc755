"""Request bodies and response parsing of both vendors, without a network."""

from typing import Any

import pytest
from fake_llm_server import Request, read_request, reply
from hypothesis import given
from hypothesis import strategies as st
from teacher_factories import request_for

from data_builders.teachers import TeacherError, TeacherRequest
from data_builders.teachers.anthropic import Anthropic
from data_builders.teachers.openai import Chat
from data_builders.teachers.provider import FailedRow, Provider
from data_builders.teachers.spec import parse_spec

LOCAL, OPENAI = Chat("http://host/v1", "m"), Chat("https://api.openai.com/v1", "m")
ANTHROPIC = Anthropic("m")
WIRES: list[tuple[Provider, str]] = [(LOCAL, "chat"), (OPENAI, "chat"), (ANTHROPIC, "anthropic")]
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
def test_request_body_has_all_fields(wire: Provider, kind: str, sent: TeacherRequest) -> None:
    seen = read_request(kind, wire.body(sent))
    assert (seen.system, seen.user, seen.sample) == (sent.system, sent.user, sent.sample)
    assert (seen.max_tokens, seen.temperature, seen.model) == (sent.max_tokens, sent.temperature, "m")


@pytest.mark.parametrize(("wire", "kind"), WIRES)
@given(text=st.text(), cut=st.booleans())
def test_text_usage_and_truncation_are_parsed(wire: Provider, kind: str, text: str, cut: bool) -> None:
    request = Request(kind, "m", "one two", "three", 0, 10, 1.0)
    answer = wire.read(reply(request, text, cut=cut))
    assert (answer.text, answer.finished, answer.model) == (text, not cut, "m-2026")
    assert (answer.input_tokens, answer.output_tokens) == (3, len(text.split()))


def test_openai_gets_the_new_parameter_names_and_other_hosts_the_old_ones() -> None:
    assert "max_tokens" in LOCAL.body(request_for("q"))
    assert LOCAL.body(request_for("q", temperature=1))["temperature"] == 1
    newer = OPENAI.body(request_for("q", temperature=1))
    assert "max_completion_tokens" in newer
    assert not {"max_tokens", "temperature", "seed"} & newer.keys()


def test_a_spec_names_the_field_of_the_token_limit_for_any_host() -> None:
    newer = parse_spec("chat:token_field=max_completion_tokens@http://host/v1#m")
    assert isinstance(newer, Chat)
    assert (newer.name, newer.url) == (LOCAL.name, LOCAL.url)
    assert "max_completion_tokens" in newer.body(request_for("q"))
    assert "max_tokens" in parse_spec("chat:token_field=max_tokens@https://api.openai.com/v1#m").body(request_for("q"))
    with pytest.raises(TeacherError, match="token_field is max_tokens or max_completion_tokens, not 'tokens'"):
        parse_spec("chat:token_field=tokens@http://host/v1#m")


def test_several_parts_of_an_answer_are_one_text() -> None:
    data = reply(Request("chat", "m", "", "q", 0, 10, 1.0), "")
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    data["choices"][0]["message"]["content"] = parts
    assert LOCAL.read(data).text == "ab"


def test_keys_are_sent_only_to_their_vendor() -> None:
    assert LOCAL.key_variables == ("JUDGE_R1_TEACHER_KEY",)
    assert Chat("https://openai.com.evil.example/v1", "m").key_variables == ("JUDGE_R1_TEACHER_KEY",)
    assert "OPENAI_API_KEY" in OPENAI.key_variables
    assert LOCAL.headers(None) == {}


def test_an_empty_chat_answer_is_unfinished_and_a_refusal_is_text() -> None:
    body = reply(Request("chat", "m", "", "q", 0, 10, 1.0), "x")
    body["choices"][0]["message"]["content"] = None
    assert (LOCAL.read(body).text, LOCAL.read(body).finished) == ("", False)
    body["choices"][0]["message"]["refusal"] = "no"
    assert (LOCAL.read(body).text, LOCAL.read(body).finished) == ("no", True)


def test_cached_input_is_counted_and_thinking_is_excluded() -> None:
    body = reply(Request("anthropic", "m", "", "q", 0, 10, 1.0), "x")
    body["content"].insert(0, {"type": "thinking", "thinking": "hm"})
    body["usage"] |= {"cache_read_input_tokens": 10, "cache_creation_input_tokens": None}
    assert (ANTHROPIC.read(body).text, ANTHROPIC.read(body).input_tokens) == ("x", 11)


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
def test_a_failed_row_has_a_reason(wire: Provider, row: Any, reason: str) -> None:
    with pytest.raises(FailedRow, match=reason):
        wire.batch_result({"custom_id": "k", **row})
