"""What is torn is owed again, by every log that is appended to."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge_r1.core.errors import JudgeError, StorageFull
from judge_r1.files.append_log import AppendLog, log_lines
from judge_r1.files.run_log import read_rows


@pytest.mark.parametrize("last", [b"\x1f\x8b\x08", b"notes", b"[1, 2", b'{"step" 3'])
def test_a_last_line_that_no_kill_leaves_is_an_error(last: bytes, tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_bytes(b'{"step": 1}\n{"step": 2, "lo')
    assert read_rows(file) == [{"step": 1}]
    file.write_bytes(b'{"step": 1}\n' + last)
    with pytest.raises(JudgeError, match="line 2: not JSON; the log is damaged"):
        read_rows(file)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 60), lost=st.integers(0, 5))
def test_a_log_cut_at_any_byte_owes_its_torn_line_alone(cut: int, lost: int, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    lines = [b'{"step": %d, "text": "\xc3\xa9"}\n' % step for step in (lost, lost + 1)]
    file.write_bytes(b"".join(lines)[:cut])
    readable = [line for _, _, line in log_lines(file)]
    with AppendLog(file) as log:
        log.append(b'{"step": 9}\n')
    kept = [line.rstrip(b"\n") for line in lines if line.rstrip(b"\n") in file.read_bytes()]
    assert file.read_bytes() == b"".join(line + b"\n" for line in (*kept, b'{"step": 9}'))
    assert [line.rstrip(b"\n") for line in readable] == kept
    assert len(kept) == sum(len(b"".join(lines[: number + 1])) - 1 <= cut for number in range(2))


def test_a_file_of_another_kind_is_not_appended_to(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    for content in (b"my notes", b"[1, 2", b'{"step" 3'):
        file.write_bytes(content)
        with AppendLog(file) as log, pytest.raises(JudgeError, match="no record, so no kill has left it"):
            log.append(b"{}\n")
        assert file.read_bytes() == content


def test_a_failed_write_takes_its_part_back_but_nothing_of_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "log.jsonl"
    write, others = os.write, [b"", b'{"other": 1}\n']

    def full(descriptor: int, line: bytes) -> int:
        if len(line) < 9:
            raise OSError(errno.ENOSPC, "No space left on device")
        part = write(descriptor, line[: len(line) - 8])
        write(descriptor, other)
        return part

    for other in others:
        file.write_bytes(b'{"step": 1}\n')
        with monkeypatch.context() as patched, AppendLog(file) as log:
            patched.setattr(os, "write", full)
            with pytest.raises(StorageFull, match="No space left"):
                log.append(b'{"step": 2, "text": "x"}\n')
        assert file.read_bytes().startswith(b'{"step": 1}\n')
        assert file.read_bytes().endswith(other or b'{"step": 1}\n')


def test_a_log_for_one_process_is_refused_to_another(tmp_path: Path) -> None:
    with AppendLog(tmp_path / "log", alone=True), pytest.raises(JudgeError, match="in use by another process"):
        AppendLog(tmp_path / "log", alone=True)
