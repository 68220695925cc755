"""Episodes kept in a folder, where that is asked for; nowhere else is anything of a request retained."""

import json
import logging
import os
import threading
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.judges.base import JudgeOutput

_log = logging.getLogger(__name__)


class Traces:
    """One line a game in `traces.jsonl`: its id, whose it was, what was asked and the whole trajectory.
    A trace that cannot be written (a full disk) costs nobody the judgment: the first such is logged."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            own = os.open(folder / "traces.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)  # all clients' texts
            self._file = os.fdopen(own, "ab", buffering=0)
        except OSError as error:
            raise JudgeError(f"--traces {folder}: {error.strerror}") from None
        self._lock = threading.Lock()
        self._torn, self._told = False, False

    def close(self) -> None:
        self._file.close()

    def keep(self, played: JudgeOutput, owner: str) -> bool:
        """False where it could not be written."""
        row = {
            "id": played.ask.item.item_id,
            "owner": owner,
            "item": played.ask.item.model_dump(mode="json"),
            "verdict": played.verdict.model_dump(mode="json"),
            "confidence": played.confidence,
            "trajectory": played.trajectory.model_dump(mode="json"),
        }
        with self._lock:
            try:
                self._write(json.dumps(row).encode() + b"\n")
            except OSError as error:
                if not self._told:
                    _log.error("traces are lost, the first of them now: %s", error.strerror)
                self._told = True
                return False
        return True

    def _write(self, line: bytes) -> None:
        """The whole line, and first an end to one that was torn before."""
        left = b"\n" * self._torn + line
        while left:
            left = left[self._file.write(left) :]
            self._torn = bool(left)
