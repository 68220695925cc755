"""Fixtures that every room uses."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would ours

settings.register_profile("shared machine", deadline=None)  # a busy machine is no failure
settings.load_profile("shared machine")

REPO = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real corpora; skips where a clone has none, and fails instead where CI promises it."""
    folder = Path(os.environ.get("JUDGE_R1_REAL_DATA", REPO.parent / "shared" / "data"))
    if not (folder / "SOURCES.md").exists():
        if os.environ.get("CI"):
            pytest.fail(f"CI must have the real corpora, and {folder} has none")
        pytest.skip(f"no real corpora at {folder}: set JUDGE_R1_REAL_DATA to their folder")
    return folder
