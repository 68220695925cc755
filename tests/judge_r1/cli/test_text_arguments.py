"""No command takes an empty argument or text that is not UTF-8."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.records import Case
from judge_r1.files.jsonl import write_jsonl


def flags(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every long option of the CLI that takes a value, with the words of its command."""
    for parameter in command.params:
        if not getattr(parameter, "is_flag", False) and parameter.opts[0].startswith("--"):
            yield path, parameter.opts[0]
    for name, below in getattr(command, "commands", {}).items():
        yield from flags(below, (*path, name))


FLAGS = list(flags(typer.main.get_command(app)))


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    case = Case.of(domain="legal", context="Ana paid 34 crowns.", decision="d", reference="r", source="s", license="l")
    write_jsonl(tmp_path / "cases.jsonl", [case])
    return tmp_path / "cases.jsonl"


def test_options_with_ids_names_and_paths_are_found() -> None:
    found = {(("search",), "--case-id"), (("eval",), "--subset"), (("build",), "--out"), (("serve",), "--judge")}
    assert found <= set(FLAGS)


@pytest.mark.parametrize(("path", "flag"), FLAGS, ids=[" ".join([*path, flag]) for path, flag in FLAGS])
def test_no_option_takes_an_empty_value(path: tuple[str, ...], flag: str) -> None:
    for arguments in ([flag, ""], [f"{flag}="]):
        result = CliRunner().invoke(app, [*path, *arguments])
        assert result.exit_code == 2
        assert f"Invalid value for '{flag}': it must not be empty" in result.stderr


def test_an_empty_case_id_does_not_select_the_first_case(cases: Path) -> None:
    result = CliRunner().invoke(app, ["search", str(cases), "Ana", "--retriever", "bm25", "--case-id", ""])
    assert (result.exit_code, result.stdout) == (2, "")
    result = CliRunner().invoke(app, ["search", str(cases), "Ana", "--retriever", "bm25"])
    assert "Ana paid 34 crowns." in result.stdout


@pytest.mark.parametrize("arguments", [["", "query"], ["cases.jsonl", ""]])
def test_no_positional_argument_may_be_empty(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, ["search", *arguments])
    assert result.exit_code == 2
    assert "it must not be empty" in result.stderr


def test_a_search_without_a_match_says_so(cases: Path) -> None:
    result = CliRunner().invoke(app, ["search", str(cases), "zebra", "--retriever", "bm25"])
    assert (result.exit_code, result.stdout) == (0, "nothing found: no passage has a term of the query\n")


def test_overrides_may_end_in_an_equals_sign() -> None:
    result = CliRunner().invoke(app, ["train", "missing.yaml", "grpo.beta="])
    assert "must not be empty" not in result.stderr


@pytest.mark.parametrize("retriever", ["bm25", "bundled:e5-small"])
def test_a_query_that_is_not_utf8_is_rejected(cases: Path, retriever: str) -> None:
    query = b"Ana \xff".decode("utf-8", "surrogateescape")  # as Python decodes arguments
    result = CliRunner().invoke(app, ["search", str(cases), query, "--retriever", retriever])
    assert result.exit_code == 2
    assert "is not valid UTF-8" in result.stderr
