"""Runs `judge-r1` as a command."""

import os
import subprocess
import sys
from pathlib import Path


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    command = [sys.executable, "-m", "judge_r1.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
