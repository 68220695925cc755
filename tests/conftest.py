"""Fixtures for all tests, and the table of attacks at the end of a run."""

import gc
import logging
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would ours

gc.set_threshold(20_000, 10, 10)  # by default, a fourth of the time of tests that make many records goes to collections
gc.disable()  # until the tests are collected: imports leave no garbage

# a busy machine is no failure; `make test-all` has the profile deep
settings.register_profile("ci", deadline=None, max_examples=40)
settings.register_profile("deep", deadline=None, max_examples=400)
settings.load_profile("ci")

REPO = Path(__file__).resolve().parents[1]

LONG = (
    "judge_r1/training/verl/test_verl_two_steps.py",
    "attacks/test_hostile_files.py",
    "attacks/test_killed_evaluations.py",
    "attacks/",
    "docs/test_examples_run.py",
    "promises/",
    "judge_r1/serving/test_page_browser.py",
    "judge_r1/training/preflight/test_preflight.py",
    "judge_r1/training/",
    "data_builders/",
)
"""Files and folders with long files: they run first, so that no worker ends long after the others. Attacks run before
most: they fork, which takes a worker several times as long once it has imported torch and loaded models."""


@pytest.hookimpl(optionalhook=True)  # environments without pytest-xdist run the tests, too
def pytest_xdist_auto_num_workers() -> int:
    """Two workers per core: a worker waits for servers, processes and deadlines for a third of its time. Each takes up
    to 3 GB of memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return max(1, min(2 * cores, int(memory / 3)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the long files first. The order within them stays."""

    def place(item: pytest.Item) -> int:
        return next((n for n, name in enumerate(LONG) if item.nodeid.startswith(f"tests/{name}")), len(LONG))

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """No later collection visits what the imports have made, and forks share its memory."""
    gc.enable()
    gc.freeze()


@pytest.fixture(autouse=True)
def _log_levels() -> Iterator[None]:
    """Restores the levels of all loggers, which servers and libraries set: no test depends on those before it."""
    loggers = [one for one in logging.root.manager.loggerDict.values() if isinstance(one, logging.Logger)]
    before = [(one, one.level, one.disabled, one.propagate) for one in (logging.root, *loggers)]
    yield
    for one, level, disabled, propagate in before:
        one.level, one.disabled, one.propagate = level, disabled, propagate
    logging.root.manager._clear_cache()  # type: ignore[attr-defined]


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
