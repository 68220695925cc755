"""All errors that a user can cause derive from `JudgeError`."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

import judge_r1.core
import judge_r1.episode
import judge_r1.files
import judge_r1.traces
from judge_r1.core.errors import JudgeError, is_full, read_error, write_error
from judge_r1.core.folders import lacks
from judge_r1.files.yaml_config import ConfigError, ConfigModel, validated

PROGRAMMING = {
    "judge_r1.traces.json_values._Repeated",
    "judge_r1.episode.parsing._RepeatedKey",
    "judge_r1.episode.readable_json._Broken",
}  # never leave their modules


def test_all_exceptions_derive_from_judge_error() -> None:
    found = set()
    rooms = (judge_r1.core, judge_r1.files, judge_r1.traces, judge_r1.episode)
    for info in [info for room in rooms for info in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")]:
        module = importlib.import_module(info.name)
        for name, thing in inspect.getmembers(module, inspect.isclass):
            if issubclass(thing, Exception) and thing.__module__ == module.__name__:
                found.add(f"{module.__name__}.{name}")
                assert issubclass(thing, JudgeError) or f"{module.__name__}.{name}" in PROGRAMMING, name
    assert {
        "judge_r1.files.jsonl.BadRecord",
        "judge_r1.episode.rollout.PromptTooLong",
        "judge_r1.files.yaml_config.ConfigError",
    } <= found


class _Lists(ConfigModel):
    names: tuple[str, ...] = ()


@pytest.mark.parametrize("override", ["names.0=a", "names=a"])
def test_a_key_of_a_list_takes_a_list(override: str) -> None:
    with pytest.raises(ConfigError, match=r"field names: Input should be a valid list, such as \[a, b\]$"):
        validated(_Lists, {}, [override], "x.yaml")


class _Fields(BaseModel):
    one: int
    two: int


def test_the_text_of_a_record_is_not_searched_for_a_full_disk() -> None:
    """pydantic's message shows the input, which takes seconds for a long line and may hold any words."""
    with pytest.raises(ValidationError, match="No space left on device") as error:
        _Fields.model_validate_json('{"one": "No space left on device"}')
    assert not is_full(error.value)
    assert is_full(RuntimeError("No space left on device"))


def test_a_name_that_is_too_long_is_an_error_in_words(tmp_path: Path) -> None:
    for long in (tmp_path / ("x" * 300), tmp_path / ("x" * 300) / "labels.json"):
        with pytest.raises(OSError, match="too long") as error:
            long.read_text()
        assert str(read_error(long, error.value)) == f"{long} cannot be read: File name too long"
        assert str(write_error(long, error.value)) == f"{long} could not be written (File name too long)"
        assert str(read_error(long, FileNotFoundError(2, "No such file"))).startswith(f"{long} cannot be read: No such")
        assert lacks(long, "model") == f"{long} does not exist"


def test_a_file_in_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("")
    inside = tmp_path / "my.csv" / "labels.json"
    with pytest.raises(NotADirectoryError) as error:
        inside.read_text()
    said = str(read_error(inside, error.value))
    assert said == f"{inside} cannot be read: {tmp_path / 'my.csv'} is a file, not a folder"


def test_all_fields_that_are_missing_are_named() -> None:
    class Both(ConfigModel):
        recipe: str
        teacher: str

    with pytest.raises(ConfigError, match=r"^rationales: the fields recipe and teacher are missing$"):
        validated(Both, {}, (), "rationales")
