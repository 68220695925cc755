"""The endurance test at a small size: a run that is stopped reports what ran, and every call is accounted for."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.mark.timeout(170)
def test_a_stopped_soak_reports_what_ran(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scripts.bench.soak", "--out", str(tmp_path), "--searches", "1000000"]
    command += ["--cases", "20", "--workers", "2", "--episodes", "4", "--faults-s", "2", "--progress-s", "1"]
    log = tmp_path / "log"
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as soak:
        until = time.monotonic() + 120
        while "killed" not in log.read_text() or " 0 searches" in log.read_text().splitlines()[-1]:
            assert soak.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        soak.send_signal(signal.SIGTERM)
        assert soak.wait(180) == 0, log.read_text()
    report = {row["what"]: row["value"] for row in json.loads((tmp_path / "soak.json").read_text())["rows"]}
    assert 0 < report["searches"] < 1_000_000
    assert report["searches with a foreign, missing or changed passage"] == 0
    assert report["calls lost"] == report["calls doubled"] == 0
    assert "0 wrong; " in log.read_text()
