"""Turns every failure of a command into one sentence on standard error and a documented exit status."""

import math
import os
import platform
import re
import shlex
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from judge_r1.core.errors import ExitStatus, JudgeError, is_full
from judge_r1.core.version import __version__
from retrieval.errors import RetrievalError

MAX_INTEGER = 2**63
DISTRIBUTIONS = {"faiss": "faiss-cpu", "sklearn": "scikit-learn"}
"""Packages that do not have the name of their module."""
RESUME = {
    "judge-r1 train": "run the same command again to resume",
    "judge-r1 eval": "run the same command with --resume to continue",
}
"""How to go on after Ctrl-C, for the commands that print nothing of their own."""
_LOOP = "Symlink loop from "
"""What `Path.resolve` raises before Python 3.13."""


class Commands(TyperGroup):
    """The group of all commands. A failing command ends with an exit status of `ExitStatus`, never with a traceback.

    Options take finite numbers within 64 bits and text in UTF-8 only. No argument may be empty: an empty id, name or
    path would select a default.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        check_values(self)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for before, argument in zip(["", *args], args, strict=False):
            option, equals, value = argument.partition("=")
            if not argument or (option.startswith("--") and equals and not value):
                name = option or (before if before.startswith("-") else f"argument {args.index(argument) + 1}")
                raise typer.BadParameter("it must not be empty", ctx=ctx, param_hint=f"'{name}'")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except (typer.Exit, typer.Abort, SystemExit) as end:
            if not isinstance(end.__context__, BrokenPipeError):  # Rich turns that into SystemExit(1)
                raise
            message, status = explain_failure(end.__context__, "")
        except BaseException as error:
            if hasattr(error, "format_message"):  # an error of usage, which Click prints
                raise
            message, status = explain_failure(error, f"judge-r1 {ctx.invoked_subcommand or ''}".strip())
        _silence_output()
        if message:
            print(f"error: {message}", file=sys.stderr)
        raise typer.Exit(status)


def check_values(command: Any) -> None:
    """Makes a command and all below it check the values of their options."""
    for parameter in _parameters(command):
        parameter.callback = _checked(parameter.callback)


def describe_statuses() -> str:
    """The exit statuses for `judge-r1 --help`."""
    return "; ".join(f"{status.value} {status.meaning}" for status in ExitStatus)


def explain_failure(error: BaseException, doing: str) -> tuple[str, int]:
    """The sentence and the exit status for an exception that ends a command. Writes a log for an unexpected one."""
    if isinstance(error, KeyboardInterrupt):
        resume = RESUME.get(doing)
        return f"interrupted: {resume}" if resume else "interrupted", ExitStatus.INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return "", ExitStatus.BROKEN_PIPE
    if isinstance(error, JudgeError | RetrievalError):
        status = getattr(error, "exit_status", ExitStatus.USAGE)
        return str(error), ExitStatus.IO_ERROR if is_full(error) else status
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith(("judge_r1", "retrieval")):
        module = error.name.partition(".")[0]
        extra = smallest_extra(module)
        package = f"'judge-r1[{extra}]'" if extra else DISTRIBUTIONS.get(module, module)
        return f"{module} is not installed: pip install {package}", ExitStatus.USAGE
    if is_full(error):
        what = getattr(error, "filename", None) or doing
        return f"{what} cannot write: {_short(error)}; free space, then run the command again", ExitStatus.IO_ERROR
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}", ExitStatus.USAGE
    if isinstance(error, RuntimeError) and str(error).startswith(_LOOP):
        return f"{str(error).removeprefix(_LOOP)} is a link that leads to itself: remove it", ExitStatus.USAGE
    problem = "ran out of memory" if isinstance(error, MemoryError) else f"failed unexpectedly ({_short(error)})"
    return f"{doing} {problem}; {write_log(error)}", ExitStatus.SOFTWARE


def smallest_extra(module: str) -> str | None:
    """The extra with the fewest packages that installs a module; None if no extra does."""
    from importlib.metadata import requires  # only a failure needs them

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    name = canonicalize_name(DISTRIBUTIONS.get(module, module))
    extras: dict[str, set[str]] = {}
    for line in requires("judge-r1") or []:
        requirement = Requirement(line)
        for extra in re.findall(r"extra == .([\w-]+)", str(requirement.marker)):
            extras.setdefault(extra, set()).add(canonicalize_name(requirement.name))
            extras[extra] |= {f"[{part}]" for part in requirement.extras}
    sizes = {extra: len(_packages(extra, extras)) for extra in extras if name in extras[extra] and extra != "dev"}
    return min(sizes, key=lambda extra: (sizes[extra], extra), default=None)


def _packages(extra: str, extras: Mapping[str, set[str]]) -> set[str]:
    """The packages of an extra and of those that it includes."""
    parts = [name[1:-1] for name in extras.get(extra, ()) if name.startswith("[")]
    return {*extras.get(extra, ()), *(name for part in parts for name in _packages(part, extras))}


def write_log(error: BaseException) -> str:
    """Writes the traceback to a file in the user's state folder, else in the folder for temporary files. Returns a
    sentence that names it."""
    state = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser()
    name = f"{time.strftime('%Y-%m-%dT%H-%M-%S')}-{os.getpid()}.log"
    for folder in (state / "judge-r1" / "errors", Path(tempfile.gettempdir())):
        with suppress(Exception):
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / name
            path.write_text(_report(error), encoding="utf-8", errors="backslashreplace")
            return f"the traceback is in {path}: please report it"
    return "no log could be written"


def log_thread_failures() -> None:
    """Makes an exception that ends a background thread one sentence and a log, too."""

    def failed(ended: threading.ExceptHookArgs) -> None:
        if ended.exc_value is not None and not isinstance(ended.exc_value, SystemExit):
            thread = ended.thread.name if ended.thread else "unknown"
            message, _ = explain_failure(ended.exc_value, f"the background thread {thread}")
            print(f"error: {message}", file=sys.stderr)

    threading.excepthook = failed


def _report(error: BaseException) -> str:
    head = (
        f"judge-r1 {__version__}, Python {platform.python_version()}, {platform.platform()}\n{shlex.join(sys.argv)}\n\n"
    )
    return head + "".join(traceback.format_exception(error))


def _short(error: BaseException) -> str:
    """The type and message of an exception as one short line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


def _silence_output() -> None:
    """Flushes the output. If that fails, sends the rest to nowhere: the interpreter would fail again at its exit."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parameters(command: Any) -> Iterator[Any]:
    """The parameters of a command and of all commands below it."""
    yield from command.params
    for below in getattr(command, "commands", {}).values():
        yield from _parameters(below)


def _checked(callback: Any) -> Any:
    """The callback of an option, preceded by a check of its value. `inf`, `nan`, 10**30 and text that is not UTF-8 pass
    Click's own types."""

    def check(ctx: Any, parameter: Any, value: Any) -> Any:
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, float) and not math.isfinite(one):
                raise typer.BadParameter(f"{one} is not a finite number", ctx=ctx, param=parameter)
            if isinstance(one, int) and abs(one) >= MAX_INTEGER:
                raise typer.BadParameter("the number does not fit into 64 bits", ctx=ctx, param=parameter)
            if isinstance(one, str) and any("\ud800" <= character <= "\udfff" for character in one):
                raise typer.BadParameter(f"{one[:80]!a} is not valid UTF-8", ctx=ctx, param=parameter)
        return callback(ctx, parameter, value) if callback else value

    return check
