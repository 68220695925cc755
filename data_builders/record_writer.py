"""Writes the files of a build side by side, counts their records and skips duplicates.

Memory does not grow with the data, except for one id per group. The files appear together at the end, or not at all.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from data_builders.dataset_type import RecordCounts, RecordFile
from data_builders.generators.base import Generator, RecordGroup
from data_builders.progress import TIMING_FILE, BuildCounts, run_timing
from data_builders.teachers.budget import Spending
from judge_r1.core.errors import JudgeError
from judge_r1.core.progress import watch_progress
from judge_r1.core.record_base import Record
from judge_r1.files.file_lock import lock_folder
from judge_r1.files.jsonl import AtomicFiles, dump_json, dump_line, write_json


class RecordWriter:
    """Writes the groups of one build. `report` is set at the end of the build."""

    def __init__(self, generator: Generator[Any], out: Path, files: AtomicFiles, counts: BuildCounts) -> None:
        self._generator, self._out, self._files, self.counts = generator, out, files, counts
        self._file_of: dict[type[Record], RecordFile[Any]] = {file.record: file for file in generator.files}
        self._counts = {file.file: RecordCounts(file) for file in generator.files}
        self._seen: set[str] = set()
        self.report: dict[str, Any] = {}

    @property
    def groups(self) -> int:
        return len(self._seen)

    def add(self, group: RecordGroup) -> None:
        """Write a group; skip and count it if its first record was written before."""
        lead, *others = group.records
        file = self._file_of[type(lead)]
        if file.id_of(lead) in self._seen:
            self._generator.skipped[f"{self._generator.title}: the same {file.noun} again"] += 1
            self.counts.item_done(0)
            return
        self._seen.add(file.id_of(lead))
        self._write(lead)
        made, ids = 0, set[tuple[str, str]]()
        for record in others:
            file = self._file_of[type(record)]
            key = (file.file, file.id_of(record))
            if key in ids:
                self._generator.abstained[f"the {file.noun} stands there already"] += 1
                continue
            ids.add(key)
            self._write(record)
            made += file == self._generator.dataset.main
        self._generator.add(group)
        self.counts.item_done(made)

    def finish(self) -> None:
        """Write the report. Raises: JudgeError if the main file is empty."""
        if not self._counts[self._generator.dataset.main.file].total:
            raise JudgeError(self._generator.why_empty(self.groups))
        self.report = self._generator.report([c for c in self._counts.values() if not c.file.optional])
        self._files.write(self._out / self._generator.report_file, dump_json(self.report))

    def _write(self, record: Record) -> None:
        file, record = self._file_of[type(record)], self._generator.finalize(record)
        self._files.write(self._out / file.file, dump_line(record))
        self._counts[file.file].add(record)


@contextmanager
def open_writer(generator: Generator[Any], out: Path, spending: Spending | None = None) -> Iterator[RecordWriter]:
    """A writer whose files and report appear together at the end of the block, followed by timing.json.

    Raises: JudgeError if another process writes to `out`, or nothing was generated.
    """
    started = time.monotonic()
    total = generator.count()
    read_seconds = time.monotonic() - started
    targets = [out / name for name in (*(file.file for file in generator.files), generator.report_file)]
    with lock_folder(out):
        counts = BuildCounts(total, generator.dataset.main.plural, lambda: generator.answers, spending)
        with (
            AtomicFiles(*targets) as files,
            watch_progress(f"{generator.title}, {generator.files[0].plural}", counts.done),
        ):
            writer = RecordWriter(generator, out, files, counts)
            yield writer
            writer.finish()
        for file in generator.dataset.files:
            if file not in generator.files:  # an optional file of an earlier build
                (out / file.file).unlink(missing_ok=True)
        timing = {"read_seconds": round(read_seconds, 2)} | run_timing(started)
        write_json(out / TIMING_FILE, timing | ({"spending": spending.as_dict()} if spending else {}))
