import pytest

from data_builders.teachers import TeacherError
from data_builders.teachers.spec import find_key, parse_spec


def test_valid_specs_are_parsed() -> None:
    chat = parse_spec("chat@https://host:8000/v1/#org/model:7b", {})
    assert (chat.name, chat.url) == ("chat:org/model:7b", "https://host:8000/v1/chat/completions")
    claude = parse_spec("chat@anthropic:claude-x", {})
    assert (claude.name, claude.url) == ("anthropic:claude-x", "https://api.anthropic.com/v1/messages")
    moved = parse_spec("chat@anthropic:claude-x", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1/"})
    assert moved.url == "http://127.0.0.1:1/v1/messages"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("chat:token_field=max_tokens@anthropic:m", "no option 'token_field' here"),
        ("anthropic:m", "'anthropic' is no teacher"),
        ("gpt-4", "chat@URL#MODEL"),
        ("rules", "no teacher that can be asked"),
        ("chat@https://host/v1", "names no model"),
        ("chat@https://host/v1#", "names no model"),
        ("chat@host/v1#m", "https://host/v1"),
        ("chat@ftp://host/v1#m", "https://host/v1"),
        ("chat@https://host:port/v1#m", "the URL is not valid"),
        ("chat@anthropic:", "names no model"),
        ("chat@anthropic:a b", "names no model"),
    ],
)
def test_invalid_specs_are_explained(spec: str, says: str) -> None:
    with pytest.raises(TeacherError, match=says):
        parse_spec(spec, {})


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
    with pytest.raises(TeacherError) as caught:
        parse_spec(spec, {})
    assert "hunter2" not in str(caught.value)


def test_keys_are_read_from_the_environment_and_hidden() -> None:
    wire = parse_spec("chat@https://api.openai.com/v1#m", {})
    key = find_key(wire, {"OPENAI_API_KEY": " sk-1 \n"})
    assert key is not None
    assert key.get_secret_value() == "sk-1"
    assert "sk-1" not in repr(key) + str(key)
    both = find_key(wire, {"OPENAI_API_KEY": "sk-1", "JUDGE_R1_TEACHER_KEY": "sk-2"})
    assert both is not None
    assert both.get_secret_value() == "sk-2"
    assert find_key(parse_spec("chat@https://host/v1#m", {}), {"OPENAI_API_KEY": "sk-1"}) is None


def test_a_missing_or_invalid_key_names_its_variable() -> None:
    for spec, name in [
        ("chat@anthropic:m", "ANTHROPIC_API_KEY"),
        ("chat@https://api.openai.com/v1#m", "OPENAI_API_KEY"),
    ]:
        with pytest.raises(TeacherError, match=name):
            find_key(parse_spec(spec, {}), {})
        with pytest.raises(TeacherError, match=name) as caught:
            find_key(parse_spec(spec, {}), {name: "two words"})
        assert "two words" not in str(caught.value)
