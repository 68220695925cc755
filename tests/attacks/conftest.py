"""Fixtures of the attack suite. `pytest tests/attacks` runs the short form, `make attacks` the long one.

The functions in `tests/support/process_faults.py` kill, fork and limit processes.
"""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def attacks(request: pytest.FixtureRequest) -> Callable[[str, int], None]:
    """Counts attacks for the table at the end of the run: `attacks("kill -9 of an evaluation", kills)`."""

    def add(kind: str, count: int = 1) -> None:
        request.node.user_properties.append(("attacks", (kind, count)))

    return add


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Makes a folder on a file system of a size: `small_disk(64 * 1024)`. A write past it fails with ENOSPC.

    Sizes are in bytes, rounded up to whole pages. Only root may mount; `forked(file_limit=...)` works for everyone.
    """
    mounted: list[Path] = []

    def mount(size: int) -> Path:
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "small_disk", str(folder)], capture_output=True, text=True
        )
        if done.returncode != 0:
            pytest.skip(f"this user cannot mount a small file system: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
