"""The strict JSON reader: every hostile text is one sentence that names the place."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from judge_r1.core.errors import JudgeError
from judge_r1.files.strict_json import BadJson, is_torn, parse_json, parse_model, read_json

HOSTILE = {
    "200,000 levels": (b"[" * 200_000 + b"]" * 200_000, "nested more than 200 levels"),
    "200,000 objects": (b'{"a":' * 200_000 + b"1" + b"}" * 200_000, "nested more than 200 levels"),
    "6,000 digits": (b'{"a": ' + b"9" * 6_000 + b"}", "more than 300 digits"),
    "1,000 digits": (b"9" * 1_000, "more than 300 digits"),
    "a float too large": (b'{"a": 1e999}', "the number 1e999 is too large"),
    "NaN": (b'{"a": NaN}', "column 7"),
    "Infinity": (b'{"a": -Infinity}', "column"),
    "a repeated key": (b'{"a": {"b": 1, "c": 2, "b": 1}}', "repeats the key 'b'"),
    "an escaped repeated key": (b'{"a": 1, "\\u0061": 2}', "repeats the key 'a'"),
    "a byte order mark": (b'\xef\xbb\xbf{"a": 1}', "byte order mark; save it as UTF-8 without one"),
    "UTF-16 with a mark": ('{"a": 1}'.encode("utf-16"), "UTF-16; save it as UTF-8"),
    "UTF-16 without": ('{"a": 1}'.encode("utf-16-le"), "UTF-16; save it as UTF-8"),
    "invalid UTF-8": (b'{"a": "\xff"}', "not UTF-8"),
    "an encoded surrogate": (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
    "an escaped surrogate": (b'{"a": "\\ud800"}', "half of a surrogate pair"),
    "a low surrogate": (b'{"a": "\\udc00 and more"}', "half of a surrogate pair"),
    "gzip": (b"\x1f\x8b\x08\x00", "compressed with gzip"),
    "nothing": (b"", "it is empty"),
    "white space": (b" \n", "it is empty"),
    "half": (b'{"a": [1, ', "cut off"),
    "two values": (b"{}\n{}", "trailing characters"),
    "a comment": (b'{"a": 1} // one', "trailing characters"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_one_sentence_that_names_the_place(name: str, tmp_path: Path) -> None:
    text, message = HOSTILE[name]
    (tmp_path / "x.json").write_bytes(text)
    with pytest.raises(BadJson, match=r"x\.json is not valid JSON: ") as error:
        read_json(tmp_path / "x.json")
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_a_text_with_a_lone_surrogate_is_rejected() -> None:
    with pytest.raises(BadJson, match="the body is not valid JSON: it holds half of a surrogate pair"):
        parse_json('"\ud800"', "the body")


TEXT = st.text(st.characters(codec="utf-8"))
LEAF = st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.integers() | TEXT
VALUE = st.recursive(LEAF, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner))


@given(VALUE)
def test_what_json_writes_is_read_back(value: object) -> None:
    assert parse_json(json.dumps(value), "x") == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode(), "x") == value


@given(st.binary(max_size=30))
def test_random_bytes_are_a_value_or_bad_json(data: bytes) -> None:
    with suppress(BadJson):
        parse_json(data, "x")


def test_a_model_is_checked_for_json_first() -> None:
    class Model(BaseModel):
        a: int

    assert parse_model(Model, b'{"a": 1}', "x") == Model(a=1)
    with pytest.raises(BadJson, match="x is not valid JSON: it repeats the key 'a'"):
        parse_model(Model, b'{"a": 1, "a": 2}', "x")
    with pytest.raises(BadJson, match="x: field a: Field required"):
        parse_model(Model, b"{}", "x")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing", Path("/proc/self/mem")):
        with pytest.raises(JudgeError, match=f"{path} cannot be read: "):
            read_json(path)


class _Line(BaseModel):
    first: str
    second: int = Field(alias="2nd")


@given(first=st.text(), second=st.integers(), data=st.data())
def test_the_beginning_of_an_object_is_a_torn_line(first: str, second: int, data: st.DataObject) -> None:
    text = json.dumps({"first": first, "2nd": second}, ensure_ascii=False).encode("utf-8", "replace")
    cut = data.draw(st.integers(1, len(text) - 1))
    assert is_torn(text[:cut], _Line)
    assert not is_torn(text)


@pytest.mark.parametrize("text", [b"", b"[1, 2", b"notes", b"\x1f\x8b", b'{"a": 1}', b'{"a" 1', b'{"a": 1}{', b'"a'])
def test_other_texts_are_no_torn_lines(text: bytes) -> None:
    assert not is_torn(text)
    assert not is_torn(b'{"third": 1, "x', _Line)
