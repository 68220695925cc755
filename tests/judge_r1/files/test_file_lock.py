"""One process at a time can lock an output folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from data_builders.build import build
from judge_r1.core.errors import JudgeError
from judge_r1.files.file_lock import lock_folder

HOLD = """
import sys
from pathlib import Path
from judge_r1.files.file_lock import lock_folder
with lock_folder(Path(sys.argv[1])):
    print("in", flush=True)
    sys.stdin.read()
"""


def test_the_lock_is_released_when_its_process_is_killed(tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, out], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "in\n"
    with pytest.raises(JudgeError, match=r"another process is writing to .*/a/b: wait until it ends"):
        build("mini", out, variants=1, limit=3)
    assert list(out.iterdir()) == []
    with lock_folder(tmp_path / "elsewhere"):
        pass
    holder.kill()
    holder.communicate(timeout=20)
    assert build("mini", out, variants=1, limit=3)["cases"] == 3
    assert sorted(path.name for path in out.iterdir()) == ["build.json", "cases.jsonl", "pairs.jsonl", "timing.json"]


def test_a_file_at_the_path_raises(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with (
        pytest.raises(JudgeError, match=r"/out cannot be written to: /.*/out is a file"),
        lock_folder(tmp_path / "out"),
    ):
        pass
    below = tmp_path / "out" / "a" / "b"
    with pytest.raises(JudgeError, match=r"/out/a/b cannot be written to: /.*/out is a file, not"), lock_folder(below):
        pass
