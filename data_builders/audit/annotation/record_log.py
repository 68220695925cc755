"""Stores answers as JSON Lines, synced to disk before they are acknowledged.

The file is append-only. A changed answer is a new line, and the last line counts. An incomplete last line, left by a
kill or a full disk, was never acknowledged; it is removed when the file is opened for writing.
"""

import os
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from judge_r1.core.errors import JudgeError
from judge_r1.files.append_log import AppendLog
from judge_r1.files.jsonl import dump_line, read_jsonl
from judge_r1.labels.audit_answers import ANSWERS_FILE, AnswerFileError, check_known, read_log

R = TypeVar("R", bound=BaseModel)
Answers = Mapping[str, Mapping[str, R]]
"""The last answer of each reader to each pair: reader → pair id → answer."""


def answers_of_readers(
    folder: Path,
    files: Sequence[Path],
    model: type[R],
    pair_ids: Collection[str],
    advice: str,
    *,
    by_hand: bool = True,
) -> Answers[R]:
    """The answers in `files` about the pairs of `folder`. Without `annotator`, the name of the file names the reader.

    `advice` says how to answer. An answer whose `answered` is false does not count. `by_hand` says that people may
    write other files than that of the page themselves.

    Raises:
        AnswerFileError: there are no answers, an answer belongs to another set, or two files have answers of one
            reader.
    """
    found = dict[str, dict[str, R]]()
    for path in files:
        # A kill of the page can leave an incomplete last line in its file; in a file written by hand it is an error.
        from_page = path == folder / ANSWERS_FILE or not by_hand
        answers: list[Any] = read_log(path, model) if from_page else list(read_jsonl(path, model))
        check_known((answer.pair_id for answer in answers), pair_ids, path)
        in_file = dict[str, dict[str, R]]()
        for answer in answers:
            if getattr(answer, "answered", True):
                in_file.setdefault(answer.annotator or path.stem, {})[answer.pair_id] = answer
        if twice := sorted(found.keys() & in_file.keys()):
            raise AnswerFileError(
                f"{path} has answers of {twice[0]}, and so does another file: name each reader differently, with the "
                "file's name or a field annotator"
            )
        found.update(in_file)
    if not found:
        raise AnswerFileError(f"{', '.join(map(str, files))}: no answers yet. {advice}")
    return found


class RecordLog(Generic[R]):
    """A file of answers of one record type, locked for writing by this process. Thread-safe."""

    def __init__(self, path: Path, model: type[R]) -> None:
        self.path, self._lock = path, threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._log = AppendLog(path, private=True, synced=True, alone=True, outcome="the answer was not saved")
        except (OSError, JudgeError) as error:
            raise AnswerFileError(str(error)) from None
        try:
            self._answers = read_log(path, model)
            self.dropped = self._log.mend()
            _sync_folder(path.parent)
        except BaseException:
            self._log.close()
            raise

    @property
    def answers(self) -> Sequence[R]:
        with self._lock:
            return tuple(self._answers)

    def append(self, answer: R) -> None:
        """Append an answer and sync it to disk.

        Raises:
            AnswerFileError: writing failed; the file is unchanged.
        """
        with self._lock:
            try:
                self._log.append(dump_line(answer).encode())
            except JudgeError as error:
                raise AnswerFileError(str(error)) from None
            self._answers.append(answer)

    def __enter__(self) -> "RecordLog[R]":
        return self

    def __exit__(self, *_: object) -> None:
        self._log.close()


def _sync_folder(folder: Path) -> None:
    """Sync the folder, so that the name of a new file survives a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
