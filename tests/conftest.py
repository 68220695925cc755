"""Fixtures for all tests, and the table of attacks at the end of a run."""

import gc
import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would ours

gc.set_threshold(20_000, 10, 10)  # by default, a fourth of the time of tests that make many records goes to collections

# a busy machine is no failure; `make test-all` has the profile deep
settings.register_profile("ci", deadline=None, max_examples=40)
settings.register_profile("deep", deadline=None, max_examples=400)
settings.load_profile("ci")

REPO = Path(__file__).resolve().parents[1]


def pytest_collection_finish() -> None:
    """No later collection visits what the imports have made, and forks share its memory."""
    gc.freeze()


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real corpora; skips where a clone has none, and fails instead where CI promises it."""
    folder = Path(os.environ.get("JUDGE_R1_REAL_DATA", REPO.parent / "shared" / "data"))
    if not (folder / "SOURCES.md").exists():
        if os.environ.get("CI"):
            pytest.fail(f"CI must have the real corpora, and {folder} has none")
        pytest.skip(f"no real corpora at {folder}: set JUDGE_R1_REAL_DATA to their folder")
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints how many attacks of each kind the tests of `tests/attacks` made, and whether the tests passed. A test that
    fails early has counted no attack: the last line counts such tests, too."""
    counts: Counter[tuple[str, str]] = Counter()
    failed: set[tuple[str, str]] = set()
    failures = 0
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) != "call":
                continue
            failures += report.failed and "tests/attacks/" in report.nodeid
            for name, value in report.user_properties:
                if name == "attacks":
                    row = (report.nodeid.split("::")[0], value[0])
                    counts[row] += value[1]
                    failed |= {row} if report.failed else set()
    if not counts:
        return
    terminalreporter.section("attacks")
    terminalreporter.line("| attack | count | outcome | tests |")
    terminalreporter.line("|---|---|---|---|")
    for row in sorted(counts):
        outcome = "FAILED" if row in failed else "passed"
        terminalreporter.line(f"| {row[1]} | {counts[row]:,} | {outcome} | {row[0]} |")
    terminalreporter.line(f"{counts.total():,} attacks of {len(counts)} kinds; {failures} tests failed")
