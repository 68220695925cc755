"""Runs `judge-r1 audit serve` as a subprocess, for tests over real sockets."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Starts `judge-r1 audit serve FOLDER`; yields the printed address and the process, and kills it at the end."""
    command = [sys.executable, "-m", "judge_r1.cli", "audit", "serve", str(folder), *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None
        try:
            printed = ""
            for line in process.stdout:
                printed += line
                if url := re.search(r"http://127\.0\.0\.1:\d+/\S+/", line):
                    yield url[0], process
                    break
            else:
                raise AssertionError(f"no address was printed: {printed}")
        finally:
            process.kill()
