"""Turns SIGTERM into a checkpoint: the run finishes its step, saves and ends with status 75, so that a retry resumes.

Schedulers announce a preemption or a time limit with a signal. The request is a file that all processes on all nodes
see: it exists while a run trains, and says `stop` once the run should save and end. Other programs, such as a hook of
Kubernetes, may write that word. verl's trainer, which is another process, answers with `saved STEP`.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from judge_r1.core.errors import TRY_AGAIN, ExitStatus, JudgeError
from retrieval.signals import signal_handlers

GRACE_SECONDS = 600.0
"""Default of JUDGE_R1_GRACE_SECONDS: the time from the first SIGTERM until the run ends without a checkpoint. Cluster
files have the same default, and schedulers wait a minute longer."""
GRACE_VARIABLE, FILE_VARIABLE = "JUDGE_R1_GRACE_SECONDS", "JUDGE_R1_STOP_FILE"
FILE = ".stop"


class Preempted(JudgeError):
    """The run has saved a checkpoint and ended on request."""

    exit_status = TRY_AGAIN

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder} was asked to stop and has saved a checkpoint; run the command again to resume")


class StopRequest:
    """The file with which a run is asked to save and end."""

    def __init__(self, folder: Path) -> None:
        self.file = Path(os.environ.get(FILE_VARIABLE) or folder / FILE).absolute()

    def __bool__(self) -> bool:
        """Whether the run should save and end."""
        return self._words()[:1] in (["stop"], ["saved"])

    @property
    def saved(self) -> int | None:
        """The step that was saved on request."""
        words = self._words()
        return int(words[1]) if len(words) == 2 and words[0] == "saved" and words[1].isdecimal() else None

    def make(self) -> None:
        """Ask the run to save and end."""
        if not self:
            self.file.write_text("stop\n", encoding="utf-8")

    def answer(self, step: int) -> None:
        """Report the checkpoint of `step`."""
        self.file.write_text(f"saved {step}\n", encoding="utf-8")

    @contextmanager
    def armed(self) -> Iterator[None]:
        """Creates the file without a request, and removes it at the end."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text("train\n", encoding="utf-8")
        try:
            yield
        finally:
            self.file.unlink(missing_ok=True)

    def _words(self) -> list[str]:
        try:
            return self.file.read_text(encoding="utf-8").split()
        except (OSError, UnicodeDecodeError):
            return []


def grace_seconds() -> float:
    """The seconds to save a checkpoint in, from the environment.

    Raises:
        JudgeError: The variable is not a number.
    """
    text = os.environ.get(GRACE_VARIABLE, str(GRACE_SECONDS))
    try:
        return max(0.0, float(text))
    except ValueError:
        raise JudgeError(f"{GRACE_VARIABLE} is {text!r}: set it to a number of seconds") from None


@contextmanager
def save_on_sigterm(request: StopRequest) -> Iterator[None]:
    """The first SIGTERM makes the request. A second one, or the end of the grace period, ends this process as SIGTERM
    does without this function. SIGINT keeps its meaning.

    Does nothing outside the main thread and with a grace period of 0."""
    if not (grace := grace_seconds()):
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    timer = threading.Timer(grace, _end_now)
    timer.daemon = True

    def first(signum: int, frame: FrameType | None) -> None:
        # Given back at once, so that a second SIGTERM ends a run whose step takes too long.
        signal.signal(signal.SIGTERM, before)
        request.make()
        timer.start()

    with signal_handlers(first, signal.SIGTERM):
        try:
            yield
        finally:
            timer.cancel()


def _end_now() -> None:
    """End this process although it may be in a long computation, in which Python runs no signal handlers."""
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(20.0)
    os._exit(ExitStatus.TERMINATED)
