from pathlib import Path

import pytest

from judge_r1.core.errors import JudgeError
from judge_r1.files.run_log import read_rows


@pytest.mark.parametrize("last", [b"\x1f\x8b\x08", b"notes", b"[1, 2", b'{"step" 3'])
def test_a_last_line_that_no_kill_leaves_is_an_error(last: bytes, tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_bytes(b'{"step": 1}\n{"step": 2, "lo')
    assert read_rows(file) == [{"step": 1}]
    file.write_bytes(b'{"step": 1}\n' + last)
    with pytest.raises(JudgeError, match="line 2: not JSON; the log is damaged"):
        read_rows(file)
