import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.benchmarks.longjudgebench.answer_parsers import UnreadableAnswer, find_json, number, released_json, word

PLAIN = st.text(alphabet=st.characters(exclude_characters="{}", exclude_categories=("Cs",)))
VALUES = st.dictionaries(
    st.text(),
    st.recursive(st.integers() | st.text() | st.none(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)),
)


@pytest.mark.parametrize(
    "text",
    [
        '{"overall_score": 8}',
        'I would say: {"overall_score": 8}. Fine.',
        '```json\n{"overall_score": 8}\n```',
        '<think>{"overall_score": 3}</think>{"overall_score": 8}',
        'the template opened it {"overall_score": 3}</think> {"overall_score": 8}',
        'You asked for {"overall_score": 0-10}. {"overall_score": 8}',
        '{"overall_score": 8} and a note {"sure": true}',
        '{"overall_score": 2} no: {"overall_score": 8}',
    ],
)
def test_find_json_takes_the_last_outermost_object(text: str) -> None:
    assert find_json(text, "overall_score") == {"overall_score": 8}


def test_find_json_keeps_nested_objects_unlike_the_release() -> None:
    text = 'Scores: {"A": {"content_score": 4}, "B": {"content_score": 1}}'
    assert find_json(text, "A") == {"A": {"content_score": 4}, "B": {"content_score": 1}}
    assert released_json(text) == {"content_score": 1}


@given(PLAIN, VALUES, PLAIN)
def test_find_json_in_any_text(before: str, values: dict[str, object], after: str) -> None:
    text = f"{before.replace('think>', '')} {json.dumps(values)} {after.replace('think>', '')}"
    expected = values if "</think>" not in json.dumps(values) and "<think>" not in json.dumps(values) else None
    if expected is not None:
        assert find_json(text) == expected


@given(st.text())
def test_text_without_object_has_no_json(text: str) -> None:
    for read in (find_json, released_json):
        with pytest.raises(UnreadableAnswer, match="no_json"):
            read(text.replace("{", ""))


@pytest.mark.parametrize("text", ["", "I cannot judge this.", "[1, 2]", '{"a": ', "{" * 5000])
def test_find_json_without_object(text: str) -> None:
    with pytest.raises(UnreadableAnswer, match="no_json"):
        find_json(text, "overall_score")


@pytest.mark.parametrize(
    ("value", "read"), [(7, 7.0), (7.5, 7.5), ("8", 8.0), (" 8/10 ", 8.0), ("0.5", 0.5), (10, 10.0)]
)
def test_number_accepts_numbers_and_numeric_text(value: object, read: float) -> None:
    assert number({"s": value}, "s", 10) == read


@pytest.mark.parametrize(
    ("value", "reason"),
    [(11, "out_of_range"), (-1, "out_of_range"), (True, "bad_value"), (None, "bad_value"), ("4/5", "bad_value"),
     ("high", "bad_value"), ("11", "out_of_range"), ([8], "bad_value"), (float("nan"), "bad_value")],
)  # fmt: skip
def test_number_rejects_other_values(value: object, reason: str) -> None:
    with pytest.raises(UnreadableAnswer, match=reason):
        number({"s": value}, "s", 10)


def test_word_ignores_case() -> None:
    assert word({"v": " TIE "}, "v", "A", "B", "tie") == "tie"
    with pytest.raises(UnreadableAnswer, match="bad_value"):
        word({"v": "both"}, "v", "A", "B")
    with pytest.raises(UnreadableAnswer, match="missing_field"):
        word({}, "v", "A")
