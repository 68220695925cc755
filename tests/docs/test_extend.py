"""The files of docs/extend.md and of `examples/` register themselves and run from the command line."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from docs_code import block
from evaluation_factories import toy_case, toy_pairs
from fake_judge_endpoint import JudgeServer, chat_completion
from paths import REPO
from setuptools import build_meta
from typer.testing import CliRunner

from data_builders.generators import GENERATORS
from data_builders.sources import SOURCES
from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.cli import app
from judge_r1.files.jsonl import write_jsonl
from judge_r1.judges.base import JUDGES
from judge_r1.models.hub import resolve

PAGE = REPO / "docs" / "extend.md"
EXAMPLES = {
    "quiz.py": (BENCHMARKS, "quiz"),
    "examples/shorter.py": (JUDGES, "shorter"),
    "examples/tickets.py": (SOURCES, "tickets"),
    "examples/cloze.py": (GENERATORS, "cloze"),
}


def run(*arguments: str | Path) -> None:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output + repr(result.exception)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """Runs the code blocks of the page and the files; forgets their entries afterwards."""
    for file in EXAMPLES:
        shipped = REPO / file
        text = shipped.read_text(encoding="utf-8") if shipped.is_file() else block(file, PAGE)
        exec(compile(text, file, "exec"), {"__name__": file})
    yield
    for registry, name in EXAMPLES.values():
        registry._entries.pop(name)


QUIZ = [
    {"id": "1", "question": "2 + 2?", "topic": "sums", "a": "4", "b": "it is five", "better": "A"},
    {"id": "2", "question": "3 + 3?", "topic": "sums", "a": "it is six", "b": "7", "better": "A"},
    {"id": "3", "question": "Capital of Peru?", "topic": "places", "a": "Rome it is", "b": "Lima", "better": "B"},
]


def test_benchmark_and_judge(tmp_path: Path) -> None:
    (tmp_path / "quiz.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUIZ))
    out = tmp_path / "out"
    run("eval", "--benchmark", "quiz", "--path", tmp_path / "quiz.jsonl", "--judge", "shorter", "--out", out)
    [row] = json.loads((out / "summary.json").read_text())["rows"]
    assert row["n"] == 3
    assert row["accuracy"] == pytest.approx(2 / 3)
    assert len((out / "votes.jsonl").read_text().splitlines()) == 6


def test_the_shipped_examples_run_as_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`pip install -e .` in a copy of the folder writes these entry points."""
    folder = tmp_path / "examples"
    shutil.copytree(REPO / "examples", folder, ignore=shutil.ignore_patterns("__pycache__", "*-info"))
    monkeypatch.chdir(folder)
    with redirect_stdout(None):
        build_meta.prepare_metadata_for_build_wheel(str(folder))
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{REPO}")

    def reply(path: str, body: dict[str, Any]) -> Any:
        text = json.dumps(body["messages"])
        if "Politeness" in text:
            said = "Politeness: 5" if "sorry" in text else "Rude.\nPoliteness: 1" if "bank" in text else "?"
            return chat_completion(said)
        return chat_completion("Score: 7" if "Score it" in text else "It is short.")

    def rows(name: str, *arguments: str) -> list[dict[str, Any]]:
        command = [sys.executable, "-m", "judge_r1.cli", "eval", *arguments, "--out", f"../{name}"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return list(json.loads((tmp_path / name / "summary.json").read_text())["rows"])

    with JudgeServer(reply) as server:
        model = f"{server.url}/v1#m"
        [rated] = rows("rated", "--benchmark", "politeness", "--path", "replies.jsonl", "--judge", f"direct@{model}")
        pairs = tmp_path / "pairs"
        pairs.mkdir()
        write_jsonl(pairs / "cases.jsonl", [toy_case(n).model_dump(mode="json", by_alias=True) for n in range(2)])
        toys = toy_pairs(2, [(1,)])
        write_jsonl(pairs / "pairs.jsonl", [pair.model_dump(mode="json", by_alias=True) for pair in toys])
        noted, _ = rows("noted", "--path", str(pairs), "--judge", f"notes@{model}")  # and the judge evidence
    assert (rated["n"], rated["valid_rate"]) == (4, 0.5)
    assert rated["accuracy"] == pytest.approx((0.75 + 1) / 4)
    assert rated["extra"]["mean_absolute_error"] == pytest.approx(0.25)
    assert (noted["n"], noted["valid_rate"]) == (2, 1.0)


def test_a_benchmark_of_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("quiz.py", "pyproject.toml"):
        (tmp_path / file).write_text(block(file, PAGE))
    (tmp_path / "quiz.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUIZ))
    monkeypatch.chdir(tmp_path)
    with redirect_stdout(None):
        build_meta.prepare_metadata_for_build_wheel(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{REPO}")

    def command(*arguments: str) -> str:
        done = subprocess.run([sys.executable, "-m", "judge_r1.cli", *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "\nquiz\n  pairs of quiz answers; both orders\n" in command("benchmarks")
    command("eval", "--benchmark", "quiz", "--path", "quiz.jsonl", "--judge", "longer", "--out", "out")
    [row] = json.loads((tmp_path / "out" / "summary.json").read_text())["rows"]
    assert (row["n"], row["accuracy"]) == (3, pytest.approx(1 / 3))


def test_source(tmp_path: Path) -> None:
    row = {
        "ticket": "Ana Lopez ordered 34 cups on 5 May 2024. The parcel held 30 cups. Claims take 14 days.",
        "decision": "Send 4 cups",
        "reasoning": "1. Ana Lopez ordered 34 cups.\n2. The parcel held 30 cups, so 4 are missing.\n3. Send 4 cups.",
        "customer": "C1",
    }
    (tmp_path / "tickets.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(row | {"reasoning": ""}) + "\n")
    run("build", "tickets", f"path={tmp_path / 'tickets.jsonl'}", "--out", tmp_path / "out")
    assert len((tmp_path / "out" / "cases.jsonl").read_text().splitlines()) == 1
    assert (tmp_path / "out" / "pairs.jsonl").read_text()
    run("validate", tmp_path / "out")


def test_generator(tmp_path: Path) -> None:
    (tmp_path / "sentences.txt").write_text("The bridge holds.\nYes.\nAna paid Ben.\n")
    out = tmp_path / "out"
    run("build", "cloze", f"path={tmp_path / 'sentences.txt'}", "--out", out)
    rows = [json.loads(line) for line in (out / "clozes.jsonl").read_text().splitlines()]
    assert [(row["text"], row["answer"]) for row in rows] == [("The bridge", "holds"), ("Ana paid", "Ben")]
    assert json.loads((out / "build.json").read_text())["abstained"] == {"one word": 1}
    run("validate", out)
    run("export", out, "--format", "jsonl", "--out", tmp_path / "export")
    assert (tmp_path / "export" / "README.md").is_file()


def test_the_reward_trains_and_saves_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("trl", reason="TRL is not installed: pip install 'judge-r1[train]'")
    monkeypatch.syspath_prepend(REPO / "examples")
    (tmp_path / "questions.jsonl").write_text('{"prompt": "who paid?"}\n{"prompt": "who left?"}\n')
    from reward import train  # type: ignore[import-not-found]

    arguments = (str(resolve("bundled:tiny")), str(tmp_path / "questions.jsonl"), "longer", str(tmp_path / "out"))
    trainer = train(*arguments, max_steps=2, max_completion_length=8, use_cpu=True)
    scored = [row["judge/comparisons"] for row in trainer.state.log_history if "reward" in row]
    assert scored == [16.0] * 2  # two groups of 4, about 2 pairs in each of 2 rounds, in both orders
    assert (tmp_path / "out" / "model.safetensors").is_file()
