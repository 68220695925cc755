"""Starts `judge-r1` commands in milliseconds: a server process imports modules once and forks for each command.

done = run("validate", folder)
process = start("train", recipe, "--out", out, log=file, modules=TRAINING)
assert process.wait(60) == 0

A forked command is a process of its own: it leads a process group, signals end it, and it exits as Python does, except
that it does not clear its modules, which would copy the memory that it shares with the server. All commands of a server
share its hash seed: a test that compares two processes starts one of them in another way. `code=` runs a Python program
instead of a command.
"""

import atexit
import contextlib
import errno
import functools
import gc
import hashlib
import importlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COMMANDS = (
    "warm_commands",
    "typer.rich_utils",
    "scipy.stats",
    "sklearn.linear_model",
)
TRAINING = ("warm_commands", *(f"judge_r1.training.trl.{name}" for name in ("grpo", "grpo_trainer", "dpo")))
"""Modules that a server imports before its first command."""
GRACE_S = 5
"""A server ends when it has had no worker for so long."""


class Command:
    """A started command, with the part of `subprocess.Popen` that tests use."""

    def __init__(self, status: int, errors: Path) -> None:
        self._status, self._errors = status, errors
        self.returncode: int | None = None
        self.pid = int(self._line())

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            piece = os.read(self._status, 1)
            assert piece, "the command server has ended"
            line += piece
        return line

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float) -> int:
        """Raises `subprocess.TimeoutExpired` like `Popen.wait`."""
        status = self._ended(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(f"command {self.pid}", timeout)
        return status

    def _ended(self, timeout: float) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            self.returncode = int(self._line())
            os.close(self._status)
        return self.returncode

    def said(self, timeout: float = 60) -> str:
        """What the command has written to standard error by its end."""
        self.wait(timeout)
        return self._errors.read_text(encoding="utf-8")

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kills the process group."""
        if self.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)


def start(
    *arguments: str | Path,
    log: Path,
    errors: Path | None = None,
    folder: Path | None = None,
    env: Mapping[str, str] | None = None,
    modules: tuple[str, ...] = COMMANDS,
    file_bytes: int | None = None,
    code: str = "",
) -> Command:
    """Starts a `judge-r1` command.

    Args:
        log: File to which the output is appended; standard error too where `errors` is None.
        folder: Working directory [default: that of this process].
        env: Changes to the environment of this process.
        modules: What the server of this command has imported.
        file_bytes: The size of the files that it may write.
        code: A Python program that runs instead of the command, with these arguments.
    """
    request = {
        "arguments": ["judge-r1", *map(str, arguments)],
        "folder": str(folder or Path.cwd()),
        "env": {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200", **(env or {})},
        "file_bytes": file_bytes,
        "code": code,
    }
    status, written = os.pipe()
    with log.open("ab") as out, (errors or log).open("ab") as err:
        message = json.dumps(request).encode()
        socket.send_fds(_server(modules), [message], [out.fileno(), err.fileno(), written])
    os.close(written)
    return Command(status, errors or log)


def run(*arguments: str | Path, timeout: float = 120, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a `judge-r1` command to its end. Its output holds what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = start(*arguments, log=out, errors=err, **options)
        try:
            status = process.wait(timeout)
        finally:
            process.kill()
        return subprocess.CompletedProcess(list(map(str, arguments)), status, out.read_text(), err.read_text())


@functools.cache
def _server(modules: tuple[str, ...]) -> socket.socket:
    """Connects to the server of these modules, which all workers of a test run share. The first to ask starts it."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    address = f"\0judge-r1 {run} {hashlib.sha256(repr(modules).encode()).hexdigest()[:16]}"
    ours, listening = (socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2))
    with listening:
        if _bound(listening, address):
            listening.listen(64)
            subprocess.Popen(
                [sys.executable, __file__, str(listening.fileno()), *modules],
                pass_fds=[listening.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                start_new_session=True,
            )
        while ours.connect_ex(address) == errno.ECONNREFUSED:
            time.sleep(0.01)  # another worker is about to listen
    return ours


def _bound(listening: socket.socket, address: str) -> bool:
    try:
        listening.bind(address)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True


def _serve(listening: socket.socket) -> str:
    """Forks for each request. Returns in each fork, which is then the command, the program to run instead of it."""
    workers: list[socket.socket] = []
    running: dict[int, tuple[int, int]] = {}
    """Descriptor of a process -> its id and the pipe for its status."""
    while True:
        watched: list[Any] = [listening, *workers, *running]
        ready = select.select(watched, [], [], None if workers else GRACE_S)[0]
        if not ready:
            os._exit(0)
        for channel in ready:
            if isinstance(channel, int):
                pid, status = running.pop(channel)
                ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                with contextlib.suppress(BrokenPipeError):  # the worker has ended
                    os.write(status, f"{ended}\n".encode())
                os.close(status)
                os.close(channel)
                continue
            if channel is listening:
                workers.append(listening.accept()[0])
                continue
            message, fds, *_ = socket.recv_fds(channel, 1 << 20, 3)
            if not message:  # the worker has ended
                workers.remove(channel)
                channel.close()
                continue
            if (pid := os.fork()) == 0:
                for end in (listening, *workers):
                    end.close()
                for descriptor, (_, status) in running.items():
                    os.close(descriptor)
                    os.close(status)
                request = json.loads(message)
                _become(request, *fds)
                return str(request["code"])
            out, err, status = fds
            running[os.pidfd_open(pid)] = pid, status
            os.write(status, f"{pid}\n".encode())
            os.close(out)
            os.close(err)


def _become(request: dict[str, Any], out: int, err: int, status: int) -> None:
    os.setsid()
    os.close(status)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["folder"])
    if request["file_bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_bytes"], request["file_bytes"]))
    sys.argv = request["arguments"]


def _run(program: str) -> int:
    """Returns the exit status of the program, or of the command of `sys.argv`."""
    try:
        if program:
            exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
        else:
            from judge_r1.cli import main

            main()
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


if __name__ == "__main__":
    for module in sys.argv[2:]:
        importlib.import_module(module)
    gc.freeze()  # forks share the memory of what was imported
    gc.set_threshold(20_000, 10, 10)
    status = _run(_serve(socket.socket(fileno=int(sys.argv[1]))))
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, like the end of Python
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status & 0xFF)
