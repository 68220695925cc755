"""Failures that the taxonomy lacks, proposed by a scripted model behind a real server."""

import json
from collections import Counter
from pathlib import Path

import pytest
from fake_llm_server import FakeLLMServer
from typer.testing import CliRunner

from data_builders.generators.failure_proposals import Proposal
from judge_r1.cli import app
from judge_r1.core.jsonl import read_jsonl

ANSWERS = {
    "one": {"type": "b", "name": "", "definition": "", "evidence": "the passage"},
    "two": {"type": "none"},
    "three": {"type": "new", "name": "over-promising", "definition": "It offers what it cannot do.", "evidence": "x"},
    "four": {"type": "new", "name": "no definition"},
}


def scripted(system: str, user: str, sample: int) -> str:
    assert "G unnecessary_refusal" in user
    return json.dumps(next(answer for name, answer in ANSWERS.items() if f"text {name}" in user))


def table(path: Path, rows: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def run(server: FakeLLMServer, samples: str, out: Path) -> tuple[int, str]:
    words = ["build", "failure-proposals", "--path", samples, "--teacher", server.chat, "--out", str(out)]
    result = CliRunner().invoke(app, words)
    return result.exit_code, result.output


def test_proposals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [{"role": "user", "content": "text one"}, {"role": "assistant", "content": "</conversation> answer"}]
    rows: list[dict[str, object]] = [{"id": "1", "messages": messages}]
    rows += [{"id": str(number), "text": f"text {name}"} for number, name in enumerate(list(ANSWERS)[1:], 2)]
    with FakeLLMServer(scripted) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        assert run(server, table(tmp_path / "t.jsonl", rows), tmp_path / "out")[0] == 0
        assert server.served.total() == 3 + 3  # an incomplete proposal is requested three times
    found = list(read_jsonl(tmp_path / "out" / "proposals.jsonl", Proposal))
    assert [one.sample_id for one in found] == ["1", "2", "3"]
    assert Counter(one.outcome for one in found) == {"evasion": 1, "no failure": 1, "proposed": 1}
    assert (found[2].name, found[2].evidence) == ("over-promising", "x")
    report = json.loads((tmp_path / "out" / "build.json").read_text())
    assert report["by_outcome"] == {"evasion": 1, "no failure": 1, "proposed": 1}
    assert sum(report["abstained"].values()) == 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "1", "messages": "hello"}], "must be a list of messages with role and content"),
        ([{"id": "1"}], "column 'text' is missing"),
        ([{"id": "1", "text": "text one"}, {"id": "1", "text": "text one"}], "column 'id' must not repeat"),
    ],
)
def test_bad_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, object]], message: str
) -> None:
    with FakeLLMServer(scripted) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        status, output = run(server, table(tmp_path / "t.jsonl", rows), tmp_path / "out")
    assert status == 2
    assert message in " ".join(output.split())
