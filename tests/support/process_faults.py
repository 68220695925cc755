"""Runs commands under attack: killed at chosen moments, several at once, with limited file sizes.

result = forked(command("validate", folder))                    # a judge-r1 command, in a fork: starts in milliseconds
result = forked(command("export", folder, ...), file_limit=512) # a write past 512 bytes of a file fails
for _ in killed_at_each_operation(command("split", ...), out):  # kill -9 before every change of a file under `out`
    assert forked(command("split", ...)).returncode == 0
kill_until_done([sys.executable, "-m", "judge_r1.cli", "eval", ...], [0.5, lambda: votes.exists()])
"""

import contextlib
import itertools
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

Moment = float | Callable[[], object]
"""Seconds after the start of a process, or a condition that is polled until it holds."""


def short_and_long(short: Any, long: Any) -> list[Any]:
    """Values for `pytest.mark.parametrize`: a short form for every run, a long one for `make attacks`."""
    return [pytest.param(short, id="short"), pytest.param(long, id="long", marks=pytest.mark.slow)]


@dataclass(frozen=True)
class Finished:
    """`returncode` is negative for a process that a signal ended."""

    returncode: int
    stdout: str
    stderr: str

    @classmethod
    def of(cls, returncode: int, output: Path) -> "Finished":
        """Reads what was written to OUTPUT.stdout and OUTPUT.stderr."""
        files = (Path(f"{output}.{stream}") for stream in ("stdout", "stderr"))
        return cls(returncode, *(file.read_text(encoding="utf-8", errors="replace") for file in files))

    @property
    def killed(self) -> bool:
        return self.returncode == -signal.SIGKILL


def command(*arguments: str | Path) -> Callable[[], None]:
    """A `judge-r1` command as a function for `forked`. Imports the CLI here, so that each fork starts at once."""
    import warm_commands  # noqa: F401

    from judge_r1.cli import main

    def run() -> None:
        sys.argv = ["judge-r1", *map(str, arguments)]
        main()

    return run


def forked(work: Callable[[], Any], *, file_limit: int | None = None, timeout_s: float = 120) -> Finished:
    """Runs `work` in a fork of this process.

    Args:
        work: A returned value is ignored; SystemExit gives the exit status; any other exception prints its traceback.
        file_limit: Largest size of a file in bytes. A longer write is cut there and then fails with EFBIG.

    Raises:
        AssertionError: The fork runs for longer than `timeout_s`.
    """
    [result] = forked_together([work], file_limit=file_limit, timeout_s=timeout_s)
    return result


def forked_together(
    works: Sequence[Callable[[], Any]], *, file_limit: int | None = None, timeout_s: float = 120
) -> list[Finished]:
    """Runs each of `works` in a fork. All of them start at the same moment."""
    with tempfile.TemporaryDirectory() as outputs:
        start, go = os.pipe()
        children = []
        for number, work in enumerate(works):
            if (child := os.fork()) == 0:
                os.close(go)
                _run_child(work, Path(outputs, str(number)), start, file_limit)
            children.append(child)
        os.close(start)
        os.close(go)  # every child now reads the end of the pipe
        statuses = _wait(children, timeout_s)
        return [Finished.of(status, Path(outputs, str(number))) for number, status in enumerate(statuses)]


def _run_child(work: Callable[[], Any], output: Path, start: int, file_limit: int | None) -> NoReturn:
    status = 1
    try:
        for number, stream in enumerate(("stdout", "stderr"), 1):
            os.dup2(os.open(f"{output}.{stream}", os.O_WRONLY | os.O_CREAT), number)
            setattr(sys, stream, os.fdopen(number, "w", encoding="utf-8", closefd=False))
        os.read(start, 1)
        if file_limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, resource.RLIM_INFINITY))
        work()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _wait(children: Sequence[int], timeout_s: float) -> list[int]:
    late = threading.Event()

    def end() -> None:
        late.set()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

    timer = threading.Timer(timeout_s, end)
    timer.start()
    try:
        statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    finally:
        timer.cancel()
    assert not late.is_set(), f"a fork was still running after {timeout_s:g} s"
    return statuses


def killed_at_each_operation(work: Callable[[], Any], folder: Path, *, step: int = 1) -> Iterator[int]:
    """Runs `work` again and again: kill -9 before its first, second, … operation that changes a file under `folder`.

    Yields the number of the operation after each kill, for the caller to resume, check and restore the folder. Ends
    when `work` completes. An operation is the opening of a file for writing, a rename, a removal, or a new folder.
    """
    for number in itertools.count(1, step):
        result = forked(lambda number=number: _with_kill(work, folder, number))
        if not result.killed:
            assert result.returncode == 0, result.stderr
            return
        yield number


def _with_kill(work: Callable[[], Any], folder: Path, number: int) -> None:
    """Runs `work` in this process, which is a fork, and kills it at an operation. An audit hook cannot be removed."""
    counter = itertools.count(1)
    prefix = str(folder.resolve())

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            if not isinstance(args[2], int) or not args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
        elif event not in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link"):
            return
        path = args[0]
        if not isinstance(path, str | bytes | os.PathLike) or not os.path.abspath(os.fsdecode(path)).startswith(prefix):
            return
        if next(counter) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    work()


@dataclass(frozen=True)
class KillRun:
    """`kills` counts the processes that really died of SIGKILL; `last` is the run that completed."""

    kills: int
    last: Finished


def kill_until_done(arguments: Sequence[str | Path], moments: Sequence[Moment]) -> KillRun:
    """Starts a command once per moment and kills its process group with -9 there. Then runs it to the end.

    A run that completes before its moment counts as no kill, and the command is started again for the next one.

    Raises:
        AssertionError: A run fails by itself, or all runs together take longer than 300 s.
    """
    deadline, kills = time.monotonic() + 300, 0
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    for moment in (*moments, None):
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder, "output")
            with open(f"{output}.stdout", "wb") as out, open(f"{output}.stderr", "wb") as err:
                process = subprocess.Popen(
                    list(map(str, arguments)), stdout=out, stderr=err, env=environment, start_new_session=True
                )
            began = time.monotonic()
            while process.poll() is None:
                now = time.monotonic()
                due = moment is not None and (moment() if callable(moment) else now - began >= moment)
                if due or now > deadline:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    assert due, "the runs together took longer than 300 s"
                time.sleep(0.002)
            last = Finished.of(process.returncode, output)
        kills += last.killed
        assert last.killed or last.returncode == 0, f"a run failed by itself: {last.stderr}"
    return KillRun(kills, last)
