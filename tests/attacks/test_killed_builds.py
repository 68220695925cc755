"""Kills build, split, export and rationales at any moment, runs them twice at once, and fills the disk.

After each kill the visible files are whole, and the resumed command leaves the same files as an uninterrupted one.
"""

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

import fake_rationale_teacher
import fake_teacher
import pyarrow.parquet as pq
import pytest
from fake_llm_server import FakeLLMServer
from paths import RECIPES
from process_faults import Finished, command, forked, forked_together, killed_at_each_operation, short_and_long

from data_builders.build import build
from judge_r1.core.errors import ExitStatus
from judge_r1.files.file_lock import lock_folder

RANDOM_KILLS, LONG_RANDOM_KILLS = 1, 60
"""Kills at random moments of each command, in the short and in the long form."""
STEP, LONG_STEP = 17, 1
"""Every STEP-th operation that changes a file is preceded by a kill."""
DISK_SIZES, LONG_DISK_SIZES = (3,), tuple(range(1, 16))
"""Sizes of full disks in pages of 4 KiB."""
CONCURRENCY = 4
Attacks = Callable[[str, int], None]
QUICK = ["build", "split", "split by size", "trl", "verl"]
RULES = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in ("sft", "dpo"))]
TAUGHT = ["build by teacher", "batch export", "rationales"]
UNSTABLE = ("timing.json", "answers.sqlite")
"""Files that differ between two runs."""


@dataclass(frozen=True)
class Inputs:
    """Folders of pairs and splits to work on, a recipe, and the server of both teachers."""

    pairs: Path
    splits: Path
    recipe: Path
    server: FakeLLMServer

    def command(self, name: str, out: Path) -> Callable[[], None]:
        teacher = (f"teacher={self.server.chat}", f"concurrency={CONCURRENCY}", "--out", out)
        arguments: dict[str, tuple[str | Path, ...]] = {
            "build": ("build", "mini", "limit=12", "variants=2", "seed=1", "--out", out),
            "split": ("split", self.pairs, "--test-share", "0.3", "--out", out),
            "split by size": (
                "split", self.pairs, "--sizes", "2,4", "--test", "2", "--recipe", self.recipe, "--out", out
            ),
            "build by teacher": ("build", "mini", "limit=3", "variants=2", *teacher),
            "batch export": ("build", "mini", "limit=3", *teacher, f"batch_export={out / 'batch.jsonl'}"),
            "rationales": ("rationales", self.pairs, f"recipe={self.recipe}", "count=4", *teacher),
        }  # fmt: skip
        return command(*arguments.get(name, ("export", self.splits, "--format", name, "--out", out)))


def teach(system: str, user: str, sample: int) -> str:
    """Answers requests for variants and for rationales."""
    answer = fake_rationale_teacher.sloppy if "<search>" in user else fake_teacher.liar
    return answer(system, user, sample)


@pytest.fixture(scope="module", autouse=True)
def loaded_modules() -> None:
    """The forks need not import what the commands use."""
    import judge_r1.models.hub
    import judge_r1.training.recipe  # noqa: F401
    from data_builders.exports import FORMATS
    from data_builders.sources import SOURCES
    from judge_r1.models.hub import load_tokenizer

    for registry in (SOURCES, FORMATS):
        for name in registry.names():
            registry.get(name)
    load_tokenizer("bundled:tiny")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inputs]:
    folder = tmp_path_factory.mktemp("inputs")
    build("mini", folder / "pairs", limit=24, variants=2)
    recipe = folder / "recipe.yaml"
    recipe.write_text(
        f"extends: {RECIPES / 'mini' / 'warmup.yaml'}\nsft: {{rationales: null}}\n"
        "episode: {budget: {max_searches: 2, response_tokens: 160}}\n"
    )
    with FakeLLMServer(teach, latency_s=0.01) as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        found = Inputs(folder / "pairs", folder / "splits", recipe, server)
        split = forked(found.command("split", found.splits))
        assert split.returncode == 0, split.stderr
        yield found


class Uninterrupted(NamedTuple):
    """The files of a command that nothing interrupts, its seconds, and the answers that it asked a teacher for."""

    files: dict[str, bytes]
    seconds: float
    answers: int


Whole = Callable[[str], Uninterrupted]


@pytest.fixture(scope="module")
def uninterrupted(inputs: Inputs, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """Runs a command once without an interruption."""
    known: dict[str, Uninterrupted] = {}

    def run(name: str) -> Uninterrupted:
        if name not in known:
            out, started = tmp_path_factory.mktemp("uninterrupted") / "out", time.monotonic()
            before = inputs.server.made.total()
            succeed(inputs.command(name, out))
            answers = inputs.server.made.total() - before
            known[name] = Uninterrupted(contents(out), time.monotonic() - started, answers)
        return known[name]

    return run


def succeed(work: Callable[[], None]) -> None:
    result = forked(work)
    assert result.returncode == 0, result.stderr


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by name, hidden ones included; files that differ between two runs as empty."""
    files = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: b"" if path.name in UNSTABLE else path.read_bytes() for name, path in files.items()}


def check_whole(folder: Path) -> None:
    """Every visible file can be read to its end."""
    for path in filter(Path.is_file, folder.rglob("*") if folder.exists() else ()):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if path.suffix == ".jsonl":
            assert path.read_bytes()[-1:] in (b"", b"\n"), path
            list(map(json.loads, path.read_text().splitlines()))
        elif path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".parquet":
            pq.read_table(path)


def killed_after(work: Callable[[], None], seconds: float) -> Finished:
    """Runs `work` in a fork that kills itself after some seconds."""

    def run() -> None:
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL))
        timer.daemon = True
        timer.start()
        work()

    return forked(run)


@pytest.mark.parametrize("step", short_and_long(STEP, LONG_STEP))
@pytest.mark.parametrize("name", [*RULES, *(pytest.param(name, marks=pytest.mark.slow) for name in TAUGHT)])
def test_a_kill_before_any_change_of_a_file(
    name: str, step: int, inputs: Inputs, uninterrupted: Whole, tmp_path: Path, attacks: Attacks
) -> None:
    expected = uninterrupted(name).files
    out, kills = tmp_path / "out", 0
    work = inputs.command(name, out)
    for _ in killed_at_each_operation(work, tmp_path, step=step):
        kills += 1
        check_whole(out)
        succeed(work)
        assert contents(out) == expected
        if kills % 2:  # every second kill meets the files of a run that is complete
            shutil.rmtree(out)
    assert kills
    attacks(f"kill -9 before a file operation of {name}", kills)


@pytest.mark.parametrize("count", short_and_long(RANDOM_KILLS, LONG_RANDOM_KILLS))
@pytest.mark.parametrize("name", [*RULES, *TAUGHT])
def test_kills_at_random_moments(
    name: str, count: int, inputs: Inputs, uninterrupted: Whole, tmp_path: Path, attacks: Attacks
) -> None:
    expected, seconds, answers = uninterrupted(name)
    before = inputs.server.made.total()
    out, rng, kills, runs = tmp_path / "out", Random(f"{name} {count}"), 0, 1
    work = inputs.command(name, out)
    while kills < count:
        result = killed_after(work, rng.uniform(0, seconds))
        assert result.killed or result.returncode == 0, result.stderr
        kills += result.killed
        check_whole(out)
        if not result.killed:
            assert contents(out) == expected
            shutil.rmtree(out)
            runs += 1
    succeed(work)
    assert contents(out) == expected
    assert inputs.server.made.total() - before <= runs * answers + kills * CONCURRENCY, "only answers in flight"
    attacks(f"kill -9 at a random moment of {name}", kills)


@pytest.mark.parametrize("name", [*RULES, *TAUGHT])
def test_two_at_once_in_one_folder(
    name: str, inputs: Inputs, uninterrupted: Whole, tmp_path: Path, attacks: Attacks
) -> None:
    expected = uninterrupted(name).files
    out = tmp_path / "out"
    with lock_folder(out):
        check_refused(forked(inputs.command(name, out)), out)
        assert set(contents(out)) <= {"answers.sqlite"}
    both = forked_together([inputs.command(name, out)] * 2)
    assert sorted(result.returncode for result in both) in ([0, 0], [0, ExitStatus.USAGE])
    for result in both:
        if result.returncode:
            check_refused(result, out)
    assert contents(out) == expected
    attacks(f"two processes of {name} in one folder", 2)


def check_refused(result: Finished, out: Path) -> None:
    assert result.returncode == ExitStatus.USAGE, result.stderr
    [line] = [line for line in result.stderr.splitlines() if "another process" in line]
    assert f"another process is writing to {out}: wait until it ends, or give another --out" in line
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("sizes", short_and_long(DISK_SIZES, LONG_DISK_SIZES))
@pytest.mark.parametrize("name", [*RULES, *TAUGHT])
def test_a_full_disk(
    name: str, sizes: tuple[int, ...], inputs: Inputs, uninterrupted: Whole, tmp_path: Path, attacks: Attacks
) -> None:
    """The size of every file is limited, which every user may do; `test_a_small_disk` mounts one."""
    expected = uninterrupted(name).files
    out, full = tmp_path / "out", 0
    for pages in sizes:
        result = forked(inputs.command(name, out), file_limit=pages * 512)
        if result.returncode:
            full += 1
            check_full(result, out)
    succeed(inputs.command(name, out))
    assert contents(out) == expected
    assert full
    attacks(f"full disk for {name}", full)


@pytest.mark.parametrize("sizes", short_and_long(DISK_SIZES, LONG_DISK_SIZES))
@pytest.mark.parametrize("name", ["split", "rationales"])
def test_a_small_disk(
    name: str, sizes: tuple[int, ...], inputs: Inputs, small_disk: Callable[[int], Path], attacks: Attacks
) -> None:
    for pages in sizes:
        out = small_disk(pages * 4096) / "out"
        result = forked(inputs.command(name, out))
        if result.returncode:
            check_full(result, out)
            attacks(f"full disk for {name}", 1)


def check_full(result: Finished, out: Path) -> None:
    """One sentence, no traceback, nothing partial."""
    assert result.returncode == ExitStatus.IO_ERROR, result.stderr
    assert "Traceback" not in result.stderr
    check_whole(out)
    if out.exists():
        assert not [name for name in contents(out) if ".partial" in name]
