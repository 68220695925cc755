"""Every failure of a command is one sentence and a documented exit status."""

import errno
import inspect
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import typer
from paths import REPO
from process_faults import forked
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.cli.failures import Commands, log_thread_failures, smallest_extra
from judge_r1.core.errors import ExitStatus, JudgeError, write_error


def nested(levels: int) -> int:
    return nested(levels + 1)


def raise_wrapped() -> None:
    try:
        raise OSError(errno.ENOSPC, "No space left on device")
    except OSError as error:
        raise JudgeError("out.json could not be written") from error


def out_of_memory() -> None:
    raise MemoryError


def interrupt() -> None:
    raise KeyboardInterrupt


def raise_error(error: BaseException) -> None:
    raise error


def full_disk() -> None:
    raise OSError(errno.ENOSPC, "No space left on device", "/x/y")


def full_disk_in_torch() -> None:
    raise RuntimeError("write failed: No space left on device")


def follow_a_loop() -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a").symlink_to("a")
        Path(folder, "a").resolve()
        (Path(folder) / "a").read_text()  # Python 3.13 resolves loops


def missing_extra() -> None:
    raise ModuleNotFoundError("no", name="torch")


FAILURES: dict[str, tuple[Callable[[], object], int, str | None]] = {
    "KeyError": (lambda: {}["rows"], 70, r"judge-r1 fail failed unexpectedly \(KeyError: 'rows'\); the traceback"),
    "RecursionError": (lambda: nested(0), 70, r"failed unexpectedly \(RecursionError: maximum recursion"),
    "MemoryError": (out_of_memory, 70, "judge-r1 fail ran out of memory; the traceback is in"),
    "EOFError": (lambda: raise_error(EOFError("Ran out of input")), 70, r"\(EOFError: Ran out of input\)"),
    "many lines": (lambda: raise_error(ValueError("a\nb" * 500)), 70, r"\(ValueError: a ba b"),
    "a surrogate": (lambda: raise_error(ValueError("\ud800")), 70, r"ValueError: \\ud800"),
    "KeyboardInterrupt": (interrupt, 130, "interrupted"),
    "a broken pipe": (lambda: raise_error(BrokenPipeError()), 141, None),
    "a full disk": (full_disk, 74, "/x/y cannot write"),
    "a full disk, hidden": (raise_wrapped, 74, "out.json could not be written"),
    "a full disk in torch": (full_disk_in_torch, 74, "free space"),
    "a missing file": (lambda: Path("/nowhere/x").read_text(), 2, "/nowhere/x: No such file or directory"),
    "a loop of links": (follow_a_loop, 2, "/a.* (is a link that leads to itself|Too many levels of symbolic links)"),
    "JudgeError": (lambda: raise_error(JudgeError("the pairs are empty")), 2, "the pairs are empty"),
    "a missing extra": (missing_extra, 2, r"pip install 'judge-r1\[train\]'"),
}


def failing_app(fail: Callable[[], object]) -> typer.Typer:
    failing = typer.Typer(cls=Commands, rich_markup_mode=None)
    failing.command("fail")(lambda: fail())
    failing.command("other")(lambda: None)
    return failing


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_one_sentence_and_a_status(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail, status, message = FAILURES[name]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    result = CliRunner().invoke(failing_app(fail), ["fail"])
    assert result.exit_code == status
    assert "Traceback" not in result.output
    if message is None:
        assert not result.stderr
        return
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert re.search(message, result.stderr)
    logs = [*tmp_path.rglob("*.log")]
    assert len(logs) == (status == ExitStatus.SOFTWARE)
    for log in logs:
        assert str(log) in result.stderr
        assert "Traceback (most recent call last)" in log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("train", "error: interrupted: run the same command again to resume\n"),
        ("eval", "error: interrupted: run the same command with --resume to continue\n"),
        ("other", "error: interrupted\n"),
    ],
)
def test_an_interrupted_command_says_how_to_go_on(command: str, message: str) -> None:
    failing = typer.Typer(cls=Commands, rich_markup_mode=None)
    failing.command(command)(interrupt)
    failing.command("more")(lambda: None)
    assert CliRunner().invoke(failing, [command]).stderr == message


def test_without_a_folder_for_state_the_log_is_a_temporary_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/state")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = CliRunner().invoke(failing_app(out_of_memory), ["fail"])
    assert re.search(rf"the traceback is in {tmp_path}/\S+\.log: please report it", result.stderr)
    monkeypatch.setattr("tempfile.tempdir", "/dev/null/tmp")
    result = CliRunner().invoke(failing_app(out_of_memory), ["fail"])
    assert (result.exit_code, result.stderr) == (
        70,
        "error: judge-r1 fail ran out of memory; no log could be written\n",
    )


def run_shell(line: str) -> subprocess.CompletedProcess[str]:
    """Runs a Bash line in which $J stands for `judge-r1`. The exit status is that of the first command of a pipe."""
    environment = {**os.environ, "J": f"{sys.executable} -m judge_r1.cli"}
    command = ["bash", "-c", line + '; exit "${PIPESTATUS[0]}"']
    return subprocess.run(command, env=environment, cwd=REPO, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("$J benchmarks > /dev/full", 74, "error: judge-r1 benchmarks cannot write: "),
        ("$J benchmarks | (exec <&-; sleep 0.1)", 141, ""),
    ],
)
def test_output_that_nobody_can_take(line: str, status: int, message: str) -> None:
    done = run_shell(line)
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == bool(message)


def test_a_failing_background_thread_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def work() -> None:
        log_thread_failures()
        thread = threading.Thread(target=lambda: 1 // 0, name="sender")
        thread.start()
        thread.join()

    result = forked(work)
    assert re.fullmatch(
        r"error: the background thread sender failed unexpectedly \(ZeroDivisionError: .*\); the traceback is in .*\n",
        result.stderr,
    )


def numbers(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str, type]]:
    """Every option of the CLI that takes a number: the words of its command, its flag and its type."""
    hints = get_type_hints(inspect.unwrap(command.callback)) if command.callback else {}
    for parameter in command.params:
        hint = hints.get(parameter.name)
        for kind in {hint, *get_args(hint)} & {int, float}:
            yield path, parameter.opts[0], kind
    for name, below in getattr(command, "commands", {}).items():
        yield from numbers(below, (*path, name))


NUMBERS = list(numbers(typer.main.get_command(app)))


def test_the_options_with_numbers_are_found() -> None:
    assert {(("eval",), "--temperature", float), (("keys", "add"), "--per-minute", int)} <= set(NUMBERS)


@pytest.mark.parametrize(("path", "flag", "kind"), NUMBERS, ids=[" ".join([*path, flag]) for path, flag, _ in NUMBERS])
def test_no_option_takes_inf_nan_or_a_huge_number(path: tuple[str, ...], flag: str, kind: type) -> None:
    values = ["inf", "-inf", "nan", "1e999"] if kind is float else ["9" * 30, "-" + "9" * 30, "9" * 6_000]
    for value in values:
        result = CliRunner().invoke(app, [*path, f"{flag}={value}" if flag.startswith("--") else f"{flag}{value}"])
        assert result.exit_code == 2
        assert f"Invalid value for '{flag}'" in result.stderr


def test_write_error_says_what_is_free_and_what_to_do(tmp_path: Path) -> None:
    error = write_error(tmp_path / "x", OSError(errno.ENOSPC, "No space left on device"))
    assert error.exit_status == ExitStatus.IO_ERROR
    assert re.search(
        r"x could not be written \(No space left on device\); [\d,.]+ MiB are free there: free space", str(error)
    )


@pytest.mark.parametrize(
    ("module", "extra"),
    [("torch", "train"), ("httpx", "endpoints"), ("faiss", "retrieval"), ("sklearn", "retrieval"),
     ("fastapi", "serve"), ("detect_secrets", "mask"), ("spacy", "tagger"), ("inspect_ai", "inspect"),
     ("verl", "verl"), ("nltk", "text"), ("pytest", None), ("unknown_module", None)],
)  # fmt: skip
def test_a_missing_package_names_its_smallest_extra(module: str, extra: str | None) -> None:
    assert smallest_extra(module) == extra
