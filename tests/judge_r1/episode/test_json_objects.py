"""JSON objects in hostile text: the same as with the decoder of `json` at each brace, in linear time."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from judge_r1.episode.json_objects import json_objects, last_started_object, whole_object

PIECES = ["{", "}", "[", "]", ":", ",", '"', '"a"', "1", "-2.5e3", "true", "NaN", " ", "\n", "\\", '\\"', "\\u12ab",
          "\\ud800", "x", '{"a":1}', '{"a":', '{"a":[', "01", "-", "1.", "\t", "\x01"]  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def decoded(text: str) -> list[Any]:
    """The outermost objects by the definition: the decoder at each brace, the first one that succeeds."""
    found, position = [], 0
    while (position := text.find("{", position)) >= 0:
        try:
            value, position = json.JSONDecoder().raw_decode(text, position)
            found.append(value)
        except ValueError:
            position += 1
    return found


@given(TEXT)
@example('{"a": "say {"b": 1}"')
@example('{broken {"a": 1} {"b": [{"c": 2}]}')
def test_the_outermost_objects_in_order(text: str) -> None:
    assert repr(json_objects(text)) == repr(decoded(text))


@given(TEXT)
def test_the_object_that_starts_last(text: str) -> None:
    starts = [found[0] for at, char in enumerate(text) if char == "{" and (found := starting_at(text, at))]
    assert repr(last_started_object(text)) == repr(starts[-1] if starts else None)


def starting_at(text: str, at: int) -> list[Any]:
    try:
        return [json.JSONDecoder().raw_decode(text, at)[0]]
    except ValueError:
        return []


def test_a_whole_text() -> None:
    assert whole_object(' {"a": 1}\n') == {"a": 1}
    assert whole_object('{"a": 1} {"a": 1}') is whole_object("") is whole_object("[1]") is None


def test_deep_objects_and_huge_numbers_count_as_broken() -> None:
    """The objects inside that a recursive function can process stay."""
    deep = json_objects('{"a":' * 100_000 + "1" + "}" * 100_000)
    assert len(deep) == 1
    assert repr(deep).count("a") == 100
    assert json_objects('{"a": {"b": 1}, "c": ' + "9" * 6000 + "}") == [{"b": 1}]
