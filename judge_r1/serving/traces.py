"""Episodes kept in a folder, where that is asked for; nowhere else is anything of a request retained."""

import json
import os
import threading
from pathlib import Path

from judge_r1.errors import JudgeError
from judge_r1.judges import Played


class Traces:
    """One line a game in `traces.jsonl`: its id, whose it was, what was asked and the whole trajectory."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            own = os.open(folder / "traces.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)  # all clients' texts
            self._file = os.fdopen(own, "a", encoding="utf-8")
        except OSError as error:
            raise JudgeError(f"--traces {folder}: {error.strerror}") from None
        self._lock = threading.Lock()

    def keep(self, played: Played, owner: str) -> None:
        row = {
            "id": played.ask.item.item_id,
            "owner": owner,
            "item": played.ask.item.model_dump(mode="json"),
            "verdict": played.verdict.model_dump(mode="json"),
            "confidence": played.confidence,
            "trajectory": played.trajectory.model_dump(mode="json"),
        }
        with self._lock:
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()
