"""One process at a time in an output folder: a second one would pay for the same answers, and the last would win."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from judge_r1.core.errors import JudgeError


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """The folder, made where there is none, for this process alone.

    The lock is the kernel's, on the folder itself: it leaves no file behind and ends with the process, however that
    ends, and with the last of its children that were started with `close_fds=False`. Some network file systems lock no
    folder, and there nobody is refused. Errors: JudgeError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        place = os.open(folder, os.O_RDONLY)
        os.set_inheritable(place, True)
    except OSError as error:
        raise JudgeError(f"{folder} cannot be written to: {error.strerror}") from None
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JudgeError(
                f"another process is writing to {folder}: wait for its end, or give another --out"
            ) from None
        except OSError:
            pass  # no such locks here
        yield
    finally:
        os.close(place)
