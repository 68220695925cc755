"""The tools of the attack suite do what they say."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from process_faults import command, forked, forked_together, kill_until_done, killed_at_each_operation


def test_a_fork_reports_status_and_output() -> None:
    result = forked(command("--help"))
    assert result.returncode == 0
    assert "Train, evaluate and serve" in result.stdout
    assert forked(lambda: sys.exit(3)).returncode == 3
    broken = forked(lambda: 1 // 0)
    assert broken.returncode == 1
    assert "ZeroDivisionError" in broken.stderr


def test_a_fork_that_hangs_is_ended() -> None:
    import time

    with pytest.raises(AssertionError, match="still running"):
        forked(lambda: time.sleep(60), timeout_s=0.1)


def test_a_file_limit_cuts_a_write(tmp_path: Path) -> None:
    result = forked(lambda: (tmp_path / "file").write_bytes(bytes(4096)), file_limit=100)
    assert "File too large" in result.stderr
    assert (tmp_path / "file").stat().st_size == 100


def test_a_small_disk_is_full(small_disk: Callable[[int], Path]) -> None:
    with pytest.raises(OSError, match="No space left"):
        (small_disk(8192) / "file").write_bytes(bytes(100_000))


def test_forks_start_together(tmp_path: Path) -> None:
    works = [lambda number=number: (tmp_path / str(number)).touch() for number in range(8)]
    assert [result.returncode for result in forked_together(works)] == [0] * 8
    assert len(list(tmp_path.iterdir())) == 8


def test_a_kill_precedes_each_operation(tmp_path: Path) -> None:
    def work() -> None:
        (tmp_path / "a").write_text("1")
        (tmp_path / "b").write_text("2")
        os.replace(tmp_path / "b", tmp_path / "c")

    seen = []
    for number in killed_at_each_operation(work, tmp_path):
        seen.append((number, sorted(path.name for path in tmp_path.iterdir())))
        for path in tmp_path.iterdir():
            path.unlink()
    assert seen == [(1, []), (2, ["a"]), (3, ["a", "b"])]


def test_kills_at_moments_until_done(tmp_path: Path, attacks: Callable[[str, int], None]) -> None:
    file = tmp_path / "lines"
    script = (
        f"import os, time\nfile = open({str(file)!r}, 'a')\nfile.write('x')\nfile.flush()\n"
        f"time.sleep(60 if os.path.getsize({str(file)!r}) < 3 else 0)"
    )
    written = [lambda size=size: file.exists() and file.stat().st_size == size for size in (1, 2)]
    run = kill_until_done([sys.executable, "-c", script], written)
    assert run.kills == 2
    assert file.read_text() == "xxx"
    attacks("kill -9 of a script", run.kills)
