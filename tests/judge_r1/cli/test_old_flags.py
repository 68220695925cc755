"""Old spellings of options work and are hidden from the help."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from judge_r1.cli import app

FLAGS = [
    (["serve"], "--running", "--max-concurrency", "x"),
    (["serve"], "--waiting", "--queue-size", "x"),
    (["serve"], "--seconds", "--timeout", "x"),
    (["serve"], "--batch", "--max-batch-size", "x"),
    (["replay"], "--rule", "--aggregation", None),
    (["calibrate"], "--row", "--judge-name", None),
    (["calibrate"], "--by", "--confidence-method", None),
    (["analyse", "radar"], "--row", "--judge-name", None),
]


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, [*arguments], env={"COLUMNS": "200"})


@pytest.mark.parametrize(("command", "old", "new", "bad"), FLAGS)
def test_both_spellings_are_accepted_and_help_shows_the_new_one(
    command: list[str], old: str, new: str, bad: str | None
) -> None:
    for flag in (old, f"{old}=x", new):
        output = run(*command, *([flag] if "=" in flag else [flag, "x"])).output
        assert "No such option" not in output
        if bad:  # the option gets the value
            assert f"Invalid value for '{new}'" in output
    shown = run(*command, "--help").output
    assert new in shown
    assert f"{old} " not in shown


def test_an_unknown_option_is_still_an_error() -> None:
    assert "No such option" in run("serve", "--walking", "1").output


def test_an_old_spelling_has_the_effect_of_the_new_one(tmp_path: Path) -> None:
    answers = tmp_path / "eval"
    answers.mkdir()
    messages = [
        str(run("calibrate", str(answers), flag, "unknown", "--out", str(tmp_path / "out")).exception)
        for flag in ("--row", "--judge-name")
    ]
    assert messages[0] == messages[1]
