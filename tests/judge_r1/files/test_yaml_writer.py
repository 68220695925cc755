"""YAML is written so that readers of YAML 1.1, of YAML 1.2 and Kubernetes' parser find the same values."""

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.files.strict_yaml import Block, dump_yaml

ODD = [
    "NO", "no", "ON", "off", "Yes", "y", "N", "True", "null", "Null", "~", "", "1", "01", "0x1", "0o7", "0b1", "1_000",
    "1e3", "1.", ".5", ".inf", ".NaN", "12:30", "1:2:3", "2026-11-27", "2026-11-27T01:02:03Z", "<<", "=", "-", "--- a",
    "...", "? a", "a: b", "a:", "a #b", "#a", "&a", "*a", "!a", "!!int 3", "%a", "@a", "`a`", "[a", "{a}", "|", ">-",
    "'a'", '"a"', " a", "a ", "\ta", "a\tb", "a\nb", "a\r\nb", "\x85", "\u2028a", "\ufeffa", "\x07", "é", "😀", "-a",
    "$(HOME)", "a\\", "x" * 300, "NaN", "inf", "nvidia.com/gpu",
]  # fmt: skip
NUMBER = re.compile(r"[-+]?(\.?[0-9])")
TEXTS = st.sampled_from(ODD) | st.text(st.characters(codec="utf-8"), max_size=20)


def plain_texts(node: yaml.Node) -> list[str]:
    """The texts of a document that are written without quotes."""
    if isinstance(node, yaml.ScalarNode):
        return [node.value] if node.style is None and node.tag.endswith(":str") else []
    children = [child for pair in node.value for child in pair] if isinstance(node, yaml.MappingNode) else node.value
    return [text for child in children for text in plain_texts(child)]


@given(st.dictionaries(TEXTS, TEXTS | st.lists(TEXTS) | st.integers() | st.booleans() | st.none(), max_size=5))
def test_every_value_is_read_back(data: dict[str, object]) -> None:
    text = dump_yaml(data)
    assert yaml.safe_load(text) == data
    for word in plain_texts(yaml.compose(text)):
        assert not NUMBER.match(word), "some reader takes it for a number or a date"
        assert word.lower() not in ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "")


@pytest.mark.parametrize("word", ODD)
def test_an_odd_word_is_read_back_as_a_text(word: str) -> None:
    assert yaml.safe_load(dump_yaml({word: [word]})) == {word: [word]}


@pytest.mark.parametrize("word", ["1e3", "y", "N", "0o7", "=", "12:30", "2026-11-27"])
def test_words_that_only_some_readers_take_for_another_type_are_quoted(word: str) -> None:
    assert dump_yaml(word).startswith(f'"{word}"')


def test_usual_words_stay_readable() -> None:
    assert dump_yaml({"apiVersion": "ray.io/v1", "n": 1, "x": None}) == 'apiVersion: ray.io/v1\n"n": 1\nx: null\n'


@given(st.lists(TEXTS, max_size=6).map("\n".join))
def test_a_block_is_read_back(text: str) -> None:
    assert yaml.safe_load(dump_yaml({"run": [Block(text)]})) == {"run": [text]}


def test_a_script_is_written_as_a_block() -> None:
    assert dump_yaml({"run": Block("set -e\necho 1\n")}) == "run: |\n  set -e\n  echo 1\n"


def test_a_value_in_two_places_is_written_twice() -> None:
    """Kubernetes' parser knows anchors, people rarely do."""
    shared = {"cpu": "1"}
    assert "&" not in dump_yaml([shared, shared])
