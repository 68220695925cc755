"""Unpacks uploaded archives within limits, counting the bytes that come out: an archive may declare any size."""

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from judge_r1.core.errors import JudgeError
from judge_r1.traces import BadTrace

_BLOCK = 2**16
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OSError, RuntimeError)
"""What `zipfile` raises for archives that are damaged, encrypted or packed in an unknown way."""


class UnpackingBusy(JudgeError):
    """The archives that are unpacked at the moment need all memory that is meant for them."""


class UnpackBudget:
    """The unpacked bytes of all uploads that are read at the moment, at most `total`."""

    def __init__(self, total: int) -> None:
        self.total, self._used, self._lock = total, 0, Lock()

    @contextmanager
    def share(self, limit: int) -> Iterator["Share"]:
        """What one upload takes, at most `limit` bytes. It is given back at the end of the block."""
        share = Share(self, limit)
        try:
            yield share
        finally:
            self._change(-share.used)

    def _change(self, size: int) -> None:
        with self._lock:
            if size > 0 and self._used + size > self.total:
                raise UnpackingBusy("other uploads are being unpacked: try again in a few seconds")
            self._used += size


class Share:
    """The part of a budget that one upload has taken."""

    def __init__(self, budget: UnpackBudget, limit: int) -> None:
        self._budget, self._limit, self.used = budget, limit, 0

    def take(self, size: int) -> None:
        """Raises: BadTrace over the limit of one upload, UnpackingBusy over the budget of all."""
        if self.used + size > self._limit:
            raise BadTrace(f"the file has over {self._limit} bytes unpacked, which is the limit")
        self._budget._change(size)
        self.used += size


def repack(path: Path, target: Path, share: Share) -> None:
    """Copies the entries of a zip archive into one without compression, whose sizes are those that were counted.

    Raises:
        BadTrace: The archive has too many bytes unpacked, is damaged, or declares fewer bytes than it has.
        UnpackingBusy: Other uploads take the memory at the moment.
    """
    with suppress(ImportError):  # of the extra inspect: its logs are packed with zstandard, which zipfile learns here
        import zipfile_zstd  # noqa: F401
    try:
        with zipfile.ZipFile(path) as archive, zipfile.ZipFile(target, "w") as counted:
            for entry in archive.infolist():
                with archive.open(entry) as source, counted.open(entry.filename, "w", force_zip64=True) as copy:
                    while block := source.read(_BLOCK):
                        share.take(len(block))
                        copy.write(block)
    except _DAMAGED as error:
        raise BadTrace(f"the archive is damaged, or has more bytes than it declares ({error})") from error
