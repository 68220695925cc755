"""`build --preview` shows pairs and an estimate, asks, and pays for no answer twice."""

import os
import pty
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import command_server
import fake_teacher
import pytest
from factories import mini_cases
from fake_llm_server import FakeLLMServer

from data_builders.build_recipe import BuildRecipe
from data_builders.preview import preview_by_teacher
from data_builders.sources import SOURCES, Draft, taught
from data_builders.teachers import Attempts, Teacher
from judge_r1.core.records import Case

MINI = ["build", "mini", "limit=4", "variants=2"]
FILES = {"cases.jsonl", "pairs.jsonl", "build.json"}
INSURANCE = (
    "domain: insurance\nrole: a senior claims adjuster\ndecision_name: coverage decision\nfiles: claims.json\n"
    "columns: {context: file, decision: outcome, reference: why}\nlicense: none\n"
)


@pytest.fixture
def server() -> Iterator[FakeLLMServer]:
    with FakeLLMServer(fake_teacher.honest) as running:
        yield running


def run(command: list[str], server: FakeLLMServer | None = None) -> str:
    done = command_server.run(*command, env={"COLUMNS": "160", **(server.environment if server else {})})
    assert done.returncode == 0, done.stderr
    return done.stdout


def on_terminal(command: list[str], answer: str) -> str:
    """The output of a command on a terminal that gets one line of input."""
    master, slave = pty.openpty()
    words = [sys.executable, "-m", "judge_r1.cli", *command]
    process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "COLUMNS": "160"})
    os.close(slave)
    os.write(master, f"{answer}\n".encode())
    shown = b""
    while True:
        try:
            if not (part := os.read(master, 65536)):
                break
        except OSError:  # the terminal is closed
            break
        shown += part
    os.close(master)
    assert process.wait(60) == 0
    return shown.decode()


def test_without_a_terminal_it_stops_and_the_build_pays_nothing_twice(tmp_path: Path, server: FakeLLMServer) -> None:
    prices, out = tmp_path / "prices.yaml", tmp_path / "out"
    prices.write_text("toy: {input: 1000, output: 1000}")
    command = [*MINI, f"teacher={server.chat}", f"prices={prices}", "--out", str(out)]
    shown = run([*command, "--preview", "1"], server)
    asked = server.served.total()
    assert 7 <= asked <= 21
    assert re.search(r"1 of 4 cases: \d+ pairs\. P1 \d of 2, ", shown)
    assert re.search(r"│ 1\. .*\[-.+-\].* │ 1\. .*\{\+.+\+\}", shown)
    rows = re.findall(r"chat:toy +│ (\d+) +│ ([\d,]+) +│ ([\d,]+) +│ ([\d,]+) +│ \$([\d.]+)", shown)
    (first, *used), (whole, *estimated) = ([float(cell.replace(",", "")) for cell in row] for row in rows)
    assert (first, whole, used[0]) == (1, 4, asked)
    assert estimated == pytest.approx([4 * number for number in used], rel=0.01)
    assert "run the same command with --yes" in shown
    assert [path.name for path in out.iterdir()] == ["answers.sqlite"]
    again = run([*command, "--preview", "1", f"budget={0.7 * estimated[-1]:.2f}"], server)
    assert (re.findall(r"chat:toy.*", again), server.served.total()) == (re.findall(r"chat:toy.*", shown), asked)
    assert f"does not cover all cases: about ${estimated[-1]:.2f} are needed" in again
    assert "unknown, because these answers came from the cache" in again
    run([*command, "--preview", "1", "--yes"], server)
    assert {path.name for path in out.iterdir()} > FILES
    assert server.duplicates == 0
    plain = tmp_path / "plain"
    run([*MINI, f"teacher={server.chat}", "--out", str(plain), f"cache={out / 'answers.sqlite'}"], server)
    assert {name: (plain / name).read_bytes() for name in FILES} == {name: (out / name).read_bytes() for name in FILES}


def test_the_estimate_counts_cases_that_are_left_out(
    tmp_path: Path, server: FakeLLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two cases gives no pairs, because the teacher does not complete it."""

    def drafts(path: Path | None, skipped: Counter[str]) -> Iterator[Draft]:
        async def complete(teacher: Teacher, skipped: Counter[str], tried: Attempts) -> Case | None:
            return case

        async def give_up(teacher: Teacher, skipped: Counter[str], tried: Attempts) -> None:
            skipped["toy: no answer accepted"] += 1

        [case] = mini_cases(1)
        return iter([complete, give_up])

    SOURCES.names()
    monkeypatch.setitem(SOURCES._entries, "toy", replace(taught("toy", drafts, "toy"), operators="mini"))
    recipe = BuildRecipe(source="toy", variants=1, teacher=server.chat, cache=tmp_path / "answers.sqlite")
    found = preview_by_teacher(recipe, 2)
    assert (found.report["cases"], found.total) == (1, 2)
    assert found.used == found.whole
    assert found.used[0].calls == server.served.total() > 0


@pytest.mark.parametrize(("answer", "built"), [("y", True), ("n", False)])
def test_on_a_terminal_it_asks(tmp_path: Path, answer: str, built: bool) -> None:
    shown = on_terminal([*MINI, "--preview", "1", "--out", str(tmp_path / "out")], answer)
    assert "Build all 4 cases? [y/N]" in shown
    assert "[-" not in shown, "differences are in colour"
    assert (tmp_path / "out" / "pairs.jsonl").exists() is built


def test_a_domain_of_ones_own_sees_what_rules_give_and_a_teacher_is_asked(tmp_path: Path) -> None:
    (tmp_path / "claims.json").write_text(
        '[{"file": "Ana paid 34 euros for the hose on 14 March 2024. It was 3 years old.", "outcome": "covered",'
        ' "why": "1. Ana paid 34 euros for the hose on 14 March 2024.\\n2. It was 3 years old."}]'
    )
    (tmp_path / "insurance.yaml").write_text(INSURANCE)
    path, out = str(tmp_path / "insurance.yaml"), tmp_path / "out"
    command = ["build", "custom", f"path={path}", "--preview", "1", "--out", str(out)]
    done = command_server.run(*command)
    assert "A teacher would be asked, for the first case and P1:" in done.stdout
    assert "You are a senior claims adjuster." in done.stdout
    assert "Target principle: 1. Logical Correctness." in done.stdout
    assert "Flawed Variant 5:" in done.stdout
    assert re.search(r"P1 \d of 5, P2 \d of 5", done.stdout) or "no pair" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["mini", "--yes"], "--yes answers the question of --preview"),
        (["mini-conversations", "--preview", "1"], "--preview is for sources of cases"),
        (
            ["mini", "--preview", "1", "teacher=chat@anthropic:x", "batch_export=x.jsonl"],
            "batch_export writes",
        ),
    ],
)
def test_options_that_do_not_go_together(tmp_path: Path, more: list[str], message: str) -> None:
    done = command_server.run("build", *more, "--out", tmp_path / "out")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr
