"""Locks an output folder, so that two processes cannot write to it at the same time."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from judge_r1.core.errors import JudgeError, reason_of


@contextmanager
def lock_folder(folder: Path, wait_s: float = 0.0) -> Iterator[None]:
    """Creates the folder if needed and locks it within the block. If the block raises, removes new empty folders.
    Waits up to `wait_s` seconds for another process.

    The lock is a kernel lock (flock) on the folder: it leaves no file behind, and the kernel releases it when the
    process and all children started with `close_fds=False` have ended. On network file systems that cannot lock folders
    it has no effect.

    Raises:
        JudgeError: Another process holds the lock, or the folder cannot be written to.
    """
    created = [path for path in (folder, *folder.parents) if not path.exists()]
    descriptor = _open_locked(folder, time.monotonic() + wait_s)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # a folder that is not empty stays, and so do its parents
            for path in created:
                path.rmdir()
        raise
    finally:
        os.close(descriptor)


def _open_locked(folder: Path, until: float) -> int:
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY)
            os.set_inheritable(descriptor, True)  # a child may still write after this process was killed
        except OSError as error:
            raise JudgeError(f"{folder} cannot be written to: {reason_of(folder, error)}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            if time.monotonic() < until:
                time.sleep(0.02)
                continue
            raise JudgeError(
                f"another process is writing to {folder}: wait until it ends, or give another --out"
            ) from None
        except OSError:
            pass  # the file system cannot lock folders
        if os.fstat(descriptor).st_nlink:  # the process that held the lock has not removed the folder
            return descriptor
        os.close(descriptor)
