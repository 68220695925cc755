"""Writes every episode of a server to `traces.jsonl`. Off by default: without it the server retains no request."""

import json
import logging
import os
import threading
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.judges.base import JudgeOutput

_log = logging.getLogger(__name__)


class TraceLog:
    """One line per request: its id, tenant, item, verdict and whole trajectory.

    A trace that cannot be written (full disk) does not fail the request. Only the first such failure is logged.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            descriptor = os.open(folder / "traces.jsonl", flags, 0o600)  # private: it contains the texts of all clients
            self._file = os.fdopen(descriptor, "ab", buffering=0)
        except OSError as error:
            raise JudgeError(f"--traces {folder}: {error.strerror}") from None
        self._lock = threading.Lock()
        self._torn, self._warned = False, False

    def close(self) -> None:
        self._file.close()

    def write(self, output: JudgeOutput, tenant: str) -> bool:
        """Appends one line. Returns False if it could not be written."""
        record = {
            "id": output.request.item.item_id,
            "owner": tenant,
            "item": output.request.item.model_dump(mode="json"),
            "verdict": output.verdict.model_dump(mode="json"),
            "confidence": output.confidence,
            "trajectory": output.trajectory.model_dump(mode="json"),
        }
        with self._lock:
            try:
                self._append(json.dumps(record).encode() + b"\n")
            except OSError as error:
                if not self._warned:
                    _log.error("traces cannot be written: %s; later failures are only counted", error.strerror)
                self._warned = True
                return False
        return True

    def _append(self, line: bytes) -> None:
        """Writes the whole line. Ends a line first that an earlier failure left incomplete."""
        rest = b"\n" * self._torn + line
        while rest:
            rest = rest[self._file.write(rest) :]
            self._torn = bool(rest)
