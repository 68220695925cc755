"""Writes every episode of a server to `traces.jsonl`. Off by default: without it the server retains no request."""

import json
import logging
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.files.append_log import AppendLog
from judge_r1.judges.base import JudgeOutput

_log = logging.getLogger(__name__)


class TraceLog:
    """One line per request: its id, tenant, item, verdict and whole trajectory.

    A trace that cannot be written (full disk) does not fail the request. Only the first such failure is logged.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise JudgeError(f"--traces {folder}: {error.strerror}") from None
        self._log = AppendLog(folder / "traces.jsonl", private=True)  # it contains the texts of all clients
        self._log.mend()
        self._warned = False

    def close(self) -> None:
        self._log.close()

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
        try:
            self._log.append(json.dumps(record).encode() + b"\n")
        except JudgeError as error:
            if not self._warned:
                _log.error("%s; later failures are only counted", error)
            self._warned = True
            return False
        return True
