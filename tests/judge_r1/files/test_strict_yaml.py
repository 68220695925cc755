"""The strict YAML reader: every hostile text is one sentence that names the place, within a second."""

import re
import time
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.errors import JudgeError
from judge_r1.files.strict_yaml import BadYaml, Block, dump_yaml, parse_yaml, read_yaml
from judge_r1.files.yaml_config import ConfigError, ConfigModel, load_config

LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 2_000))

HOSTILE = {
    "5,000 levels": (b"[" * 5_000 + b"]" * 5_000, "nested more than 50 levels"),
    "5,000 levels, open": (b"{a: " * 5_000, "nested more than 50 levels"),
    "60 levels": (b"[" * 60 + b"]" * 60, "nested more than 50 levels deep (line 1, column 51)"),
    "an alias bomb": (LAUGHS.encode(), "more than 100,000 values, aliases expanded (line 6"),
    "a chain of aliases": (CHAIN.encode(), "nested more than 50 levels"),
    "a value that holds itself": (b"a: &a [*a]", "nested more than 50 levels"),
    "a value that holds itself often": (b"a: &a [*a, *a, *a]", "nested more than 50 levels"),
    "a repeated key": (b"a: 1\nb: 2\na: 3\n", "it repeats the key 'a' (line 3, column 1)"),
    "a nested repeated key": (b"a:\n  b: 1\n  b: 1\n", "it repeats the key 'b' (line 3, column 3)"),
    "equal numbers as keys": (b"{016: a, 16: b}", "it repeats the key '16' (line 1, column 10)"),
    "equal numbers of two kinds": (b"{1: a, 1.0: b}", "it repeats the key '1.0'"),
    "two words for nothing": (b"{null: a, ~: b}", "it repeats the key '~'"),
    "infinity": (b"a: .inf", ".inf is not a finite number (line 1, column 4)"),
    "NaN": (b"a: [1, .nan]", ".nan is not a finite number"),
    "a float too large": (b"a: 1.0e+999", "1.0e+999 is not a finite number"),
    "6,000 digits": (b"a: " + b"9" * 6_000, "does not fit into 64 bits"),
    "20 digits": (b"a: 99999999999999999999", "does not fit into 64 bits"),
    "minutes": (b"a: 12:30", "12:30 is no decimal number (line 1, column 4)"),
    "a number of base 16": (b"a: {b: 0x1f}", "0x1f is no decimal number"),
    "a list as key": (b"? [a, b]\n: 1\n", "a key must be a text or a number"),
    "a date of month 13": (b"a: 2024-13-01", "month must be in 1..12"),
    "a Python object": (b"a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
    "UTF-16": ("a: 1".encode("utf-16"), "not UTF-8"),
    "invalid UTF-8": (b"a: \xff", "not UTF-8"),
    "a control character": (b"a: \x07", "special characters are not allowed"),
    "half": (b"a: [1, ", "expected the node content"),
    "two documents": (b"a: 1\n---\nb: 2\n", "expected a single document"),
    "2 MiB": (b"# no recipe\n" * 200_000, "more than 1 MiB"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_one_sentence_that_names_the_place(name: str, tmp_path: Path) -> None:
    text, message = HOSTILE[name]
    (tmp_path / "x.yaml").write_bytes(text)
    started = time.process_time()
    with pytest.raises(BadYaml, match=r"x\.yaml is not YAML: ") as error:
        read_yaml(tmp_path / "x.yaml")
    assert time.process_time() - started < 5  # seconds of a busy core; a quadratic reader takes minutes
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_plain_files_aliases_and_merge_keys_are_read(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xef\xbb\xbfbase: &base {lr: 1.0e-5, n: 1_000}\nsft: {<<: *base, lr: 2}\n")
    assert read_yaml(tmp_path / "x.yaml") == {"base": {"lr": 1e-5, "n": 1000}, "sft": {"lr": 2, "n": 1000}}
    assert parse_yaml("", "x") is None


def test_integers_are_decimal() -> None:
    assert parse_yaml("{a: 016, b: -0010, c: 0_7, d: 0, e: 00, f: +07, g: 0_}", "x") == {
        "a": 16, "b": -10, "c": 7, "d": 0, "e": 0, "f": 7, "g": 0,
    }  # fmt: skip
    assert parse_yaml("[018, -08, '09', 08a, 0.8, 2024-08-09]", "x") == [18, -8, "09", "08a", 0.8, date(2024, 8, 9)]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", Path("/proc/self/mem")):
        with pytest.raises(JudgeError, match=f"{path} cannot be read: "):
            read_yaml(path)
    with pytest.raises(JudgeError, match=f"{tmp_path} is a folder: name a YAML file"):
        read_yaml(tmp_path)


class Section(ConfigModel):
    epochs: float = 1.0
    steps: int = 1


class Config(ConfigModel):
    sft: Section = Section()


@pytest.mark.parametrize("value", [".inf", "-.inf", ".nan", "inf", "nan", "1e999", "1.0e+999"])
def test_no_spelling_of_a_number_that_is_not_finite_enters_a_config(value: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("sft: {}\n")
    with pytest.raises(ConfigError, match=r"epochs.*finite number"):
        load_config(Config, tmp_path / "x.yaml", [f"sft.epochs={value}"])
    (tmp_path / "x.yaml").write_text(f"sft: {{epochs: {value}}}\n")
    with pytest.raises(ConfigError, match=r"x\.yaml.* finite number"):
        load_config(Config, tmp_path / "x.yaml")


def test_a_missing_file_suggests_near_names_only(tmp_path: Path) -> None:
    (tmp_path / "smoke.yaml").touch()
    for name, hint in (("nofile.yaml", ""), ("smoek.yml", f"; did you mean {tmp_path / 'smoke.yaml'}?")):
        with pytest.raises(JudgeError, match=rf"{name} cannot be read: No such file or directory{re.escape(hint)}$"):
            read_yaml(tmp_path / name)


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
