"""Writes the manifests of verl's checkpoints while it trains."""

import sys
import threading
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.training.checkpoint_manifest import write_manifest
from judge_r1.training.checkpoints import Checkpoint, checkpoints, kept_best


class ManifestThread:
    """Hashes new checkpoints in a thread: a large one may take minutes, in which verl's output must be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._thread: threading.Thread | None = None

    def update(self) -> None:
        """Start on the newest checkpoint without a manifest, unless the thread is busy."""
        if self._thread is None or not self._thread.is_alive():
            for checkpoint in self._unfinished()[-1:]:
                self._thread = threading.Thread(target=_write, args=(checkpoint,), daemon=True)
                self._thread.start()

    def finish(self) -> None:
        """Write the remaining manifests."""
        if self._thread is not None:
            self._thread.join()
        for checkpoint in self._unfinished():
            _write(checkpoint)

    def _unfinished(self) -> list[Checkpoint]:
        found = [*kept_best(self.folder), *checkpoints(self.folder)]
        return [checkpoint for checkpoint in found if not checkpoint.has_manifest]


def _write(checkpoint: Checkpoint) -> None:
    try:
        write_manifest(checkpoint.folder)
    except FileNotFoundError:
        pass  # verl has removed the checkpoint, because newer ones exist
    except (OSError, JudgeError) as error:
        print(f"warning: {checkpoint.folder} gets no manifest: {error}", file=sys.stderr)
