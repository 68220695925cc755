"""Runs verl's command in a process group and leaves no process of the group behind."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from judge_r1.core.errors import TRY_AGAIN, JudgeError
from judge_r1.training.preemption import Preempted, StopRequest, grace_seconds
from retrieval.signals import signal_handlers

SILENCE_SECONDS = 3600.0
"""verl prints at every step. A process without output for this long hangs."""
STOP_SECONDS = 20.0
"""Seconds between SIGTERM and SIGKILL."""
POLL_SECONDS = 0.5


class VerlFailed(JudgeError):
    """verl's trainer failed. Its log has the reason. Another attempt may succeed, for example after a lost node."""

    exit_status = TRY_AGAIN


class EarlyStop:
    """Decides when a run that is asked to stop ends: SIGTERM or `request` first lets verl save a checkpoint.

    `logged` returns the newest step in the run's logs, which must not lose the saved step."""

    def __init__(self, request: StopRequest, logged: Callable[[], int]) -> None:
        self.request, self.logged, self.grace = request, logged, grace_seconds()
        self.has_saved = False
        """Whether verl has saved a checkpoint on request, and its step is logged."""
        self._asked: float | None = None

    def over(self, received: Sequence[int]) -> bool:
        """Whether verl must end now, after the signals `received`."""
        if not received and not self.request:
            return False
        if signal.SIGINT in received or len(received) > 1 or not self.grace:
            return True
        if self._asked is None:
            self._asked = time.monotonic()
            self.request.make()
        step = self.request.saved
        self.has_saved = step is not None and self.logged() >= step
        return self.has_saved or time.monotonic() - self._asked > self.grace


def run_supervised(
    command: Sequence[str],
    run_folder: Path,
    env: dict[str, str],
    on_output: Callable[[], None],
    lost_node: Callable[[], str | None] = lambda: None,
    stop: EarlyStop | None = None,
) -> None:
    """Run `command` with its output in logs/verl.log, calling `on_output` after each piece of output.

    SIGTERM and SIGINT stop the whole process group (SIGTERM, then SIGKILL after `STOP_SECONDS`) before this process
    exits with status 143 or 130. With `stop`, SIGTERM first lets the command save a checkpoint.

    Raises:
        VerlFailed: The command ended with an error, printed nothing for `SILENCE_SECONDS`, or `lost_node` returned a
            reason to stop.
        Preempted: The command was asked to stop, and has saved a checkpoint.
        KeyboardInterrupt, SystemExit: A signal ended the run.
    """
    log, working_folder = run_folder / "logs" / "verl.log", run_folder / "verl"  # verl writes files where it runs
    log.parent.mkdir(parents=True, exist_ok=True)
    working_folder.mkdir(exist_ok=True)
    name = " ".join(command[1:3])
    with deferred_signals() as received, log.open("ab") as out:

        def interrupted() -> bool:
            return stop.over(received) if stop else bool(received)

        process = subprocess.Popen(
            command,
            cwd=working_folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # A group of its own can be ended as a whole, and Ctrl-C reaches verl only through this process.
            start_new_session=True,
            close_fds=False,  # if this process is killed, the run folder stays locked while verl lives
        )
        try:
            reason = _follow(process, out.fileno(), on_output, interrupted, lost_node)
            status = process.poll()
            if status == 0 or not (received or reason):
                on_output()
        finally:
            stop_group(process)
    if stop and status != 0 and not reason:
        if stop.has_saved:
            raise Preempted(run_folder)
        if stop.request and not received:
            reason = f"it was asked to stop and saved no checkpoint in {stop.grace:.0f} s"
    if received and not reason and not (stop and status == 0):
        raise_interrupted(received[0])
    if reason:
        raise VerlFailed(f"`{name}` was stopped, because {reason}; its output is in {log}")
    if status:
        raise VerlFailed(f"`{name}` ended with status {status}; the reason is in {log}:\n{_tail(log)}")


def _follow(
    process: subprocess.Popen[bytes],
    log: int,
    on_output: Callable[[], None],
    interrupted: Callable[[], bool],
    lost_node: Callable[[], str | None],
) -> str | None:
    """Copy output to the file descriptor `log` until the process ends. Returns the reason to stop it before."""
    assert process.stdout is not None
    pipes, last_output = [process.stdout.fileno()], time.monotonic()
    while not interrupted():
        # Asked before the output is read, so that what a process prints last is not lost.
        exited = process.poll() is not None
        if select.select(pipes, [], [], 0.0 if exited else POLL_SECONDS)[0]:
            if not (chunk := os.read(pipes[0], 2**16)):
                pipes.clear()  # the process has closed its output, and may run on
                continue
            last_output = time.monotonic()
            os.write(log, chunk)
            on_output()
        elif exited:  # another process may still hold the pipe
            return None
        if time.monotonic() - last_output > SILENCE_SECONDS:
            return f"it printed nothing for {SILENCE_SECONDS:.0f} s"
        if reason := lost_node():
            return reason
    return None


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """End a process group: SIGTERM, then SIGKILL for what is left when its leader has ended or `STOP_SECONDS` are
    over."""
    # The group and not the process alone: Ray's workers may outlive the trainer and hold its GPUs.
    _signal_group(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=STOP_SECONDS)
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()


def _signal_group(group: int, signum: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signum)


@contextmanager
def deferred_signals() -> Iterator[list[int]]:
    """Collects SIGTERM and SIGINT in the list that it yields, so that cleanup is never interrupted."""
    received: list[int] = []
    with signal_handlers(lambda signum, frame: received.append(signum), signal.SIGTERM, signal.SIGINT):
        yield received


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Turns the first SIGTERM into SystemExit, so that `finally` blocks run and child processes are stopped."""

    received: list[int] = []

    def leave(signum: int, frame: FrameType | None) -> None:
        received.append(signum)
        if len(received) == 1:
            raise_interrupted(signum)

    with signal_handlers(leave, signal.SIGTERM):
        yield


def raise_interrupted(signum: int) -> NoReturn:
    """End this process as one that a signal interrupted: KeyboardInterrupt for SIGINT, else status 128 + signal."""
    if signum == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + signum)


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-8:])
