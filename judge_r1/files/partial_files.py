"""Temporary files beside their targets, each locked by its writer, so that those of killed processes can be removed."""

import fcntl
import os
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from judge_r1.core.errors import write_error

_NAME = re.compile(r"\..+\.(?P<process>\d+)-[0-9a-f]+\.partial")


def file_name(text: str) -> str:
    """A text from outside as the name of a file or folder: other characters than letters, digits and `_ + . -` become
    `_`, and a name never starts with a dot."""
    return re.sub(r"^\.+|[^\w+.-]", "_", text) or "_"


def file_names(texts: Iterable[str]) -> dict[str, str]:
    """The name of each text as a file or folder. Where two texts would have one name, those that `file_name` changes
    get a hash."""
    names = {text: file_name(text) for text in texts}
    counts = Counter(names.values())
    return {
        text: name if text == name or counts[name] == 1 else f"{name}-{sha256(text.encode()).hexdigest()[:8]}"
        for text, name in names.items()
    }


def open_partial(path: Path) -> BinaryIO:
    """Opens a new, hidden file in the folder of `path`, which is created if needed. `name` is the path of the file.

    Removes what killed processes left in the folder. The caller renames or removes the file, and then closes it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_partial_files(path.parent)
    while True:
        file = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(3)}.partial").open("xb")
        with suppress(OSError):  # the file system has no locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(file.fileno()).st_nlink:  # another process has not removed it before it was locked
            return file
        file.close()


@contextmanager
def staged_folder(folder: Path) -> Iterator[Path]:
    """A hidden folder whose files move into `folder` at the end of the block. If the block raises, no file changes.

    The caller holds the lock of `folder` (`lock_folder`). Removes what killed processes left there.

    Raises:
        JudgeError: A file cannot be moved.
    """
    # In the folder itself: only within a file system is a move atomic.
    staging = folder / ".staged.partial"
    shutil.rmtree(staging, ignore_errors=True)
    remove_partial_files(folder, *filter(Path.is_dir, folder.iterdir()))
    try:
        yield staging
        for file in sorted(filter(Path.is_file, staging.rglob("*"))):
            target = folder / file.relative_to(staging)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                file.replace(target)
            except OSError as error:
                raise write_error(target, error) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def remove_partial_files(*folders: Path) -> None:
    """Removes the temporary files of these folders whose writers were killed. A file in use stays."""
    for folder in folders:
        for partial in folder.glob(".*.partial"):
            if match := _NAME.fullmatch(partial.name):
                with suppress(OSError), partial.open("r+b") as file:
                    if not _is_in_use(file, int(match["process"])):
                        partial.unlink()


def _is_in_use(file: BinaryIO, process: int) -> bool:
    """Whether the file is locked; where files have no locks, whether a process of this number runs."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:  # the file system has no locks
        pass
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process belongs to another user
        pass
    return True
