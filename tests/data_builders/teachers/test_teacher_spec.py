import pytest

from data_builders.teachers.spec import TeacherSpec, parse_spec
from judge_r1.core.endpoint import EndpointError, find_key
from judge_r1.core.errors import JudgeError
from judge_r1.models.open_model import Endpoint


def endpoint(spec: TeacherSpec) -> Endpoint:
    assert spec.endpoint is not None
    return spec.endpoint


def test_valid_specs_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    chat = parse_spec("chat@https://host:8000/v1/#org/model:7b")
    assert (chat.name, endpoint(chat).url) == ("chat:org/model:7b", "https://host:8000/v1/chat/completions")
    claude = parse_spec("chat@anthropic:claude-x")
    assert (claude.name, endpoint(claude).url) == ("anthropic:claude-x", "https://api.anthropic.com/v1/messages")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/")
    assert endpoint(parse_spec("chat@anthropic:claude-x")).url == "http://127.0.0.1:1/v1/messages"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("chat:token_field=max_tokens@anthropic:m", "no option 'token_field' here"),
        ("anthropic:m", "'anthropic' is no teacher"),
        ("gpt-4", "chat@URL#MODEL"),
        ("rules", "no teacher that can be asked"),
        ("chat@https://host/v1", "names no model"),
        ("chat@https://host/v1#", "names no model"),
        ("chat@host/v1#m", "write http://HOST:PORT/v1#MODEL"),
        ("chat@ftp://host/v1#m", "write http://HOST:PORT/v1#MODEL"),
        ("chat@vllm:http://host/v1#m", "names no model"),
        ("chat@https://host:port/v1#m", "the URL is not valid"),
        ("chat@anthropic:", "names no model"),
        ("chat@anthropic:a b", "names no model"),
    ],
)
def test_invalid_specs_are_explained(spec: str, says: str) -> None:
    with pytest.raises(JudgeError, match=says):
        parse_spec(spec)


@pytest.mark.parametrize(
    "spec",
    [
        "chat@https://me:hunter2@host/v1#m",
        "chat@https://host/v1?key=hunter2#m",
        "chat@https://me:hunter2@host/v1",
        "chat@https://me:hunter2@[host/v1#m",
        "chat@https://me:hunter2@host:port/v1#m",
        "openai:https://me:hunter2@host/v1#m",
    ],
)
def test_a_secret_in_a_url_is_rejected_and_hidden(spec: str) -> None:
    with pytest.raises(EndpointError) as caught:
        parse_spec(spec)
    assert "hunter2" not in str(caught.value)


def test_keys_are_read_from_the_environment_and_hidden() -> None:
    wire = endpoint(parse_spec("chat@https://api.openai.com/v1#m"))
    key = find_key(wire, {"OPENAI_API_KEY": " sk-1 \n"})
    assert key is not None
    assert key.get_secret_value() == "sk-1"
    assert "sk-1" not in repr(key) + str(key)
    both = find_key(wire, {"OPENAI_API_KEY": "sk-1", "JUDGE_R1_TEACHER_KEY": "sk-2"})
    assert both is not None
    assert both.get_secret_value() == "sk-2"
    assert find_key(endpoint(parse_spec("chat@https://host/v1#m")), {"OPENAI_API_KEY": "sk-1"}) is None


def test_a_missing_or_invalid_key_names_its_variable() -> None:
    for spec, name in [
        ("chat@anthropic:m", "ANTHROPIC_API_KEY"),
        ("chat@https://api.openai.com/v1#m", "OPENAI_API_KEY"),
    ]:
        with pytest.raises(EndpointError, match=name):
            find_key(endpoint(parse_spec(spec)), {})
        with pytest.raises(EndpointError, match=name) as caught:
            find_key(endpoint(parse_spec(spec)), {name: "two words"})
        assert "two words" not in str(caught.value)
