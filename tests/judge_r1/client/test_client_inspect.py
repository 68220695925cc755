"""The Inspect scorer of docs/clients.md, run as written: Inspect's mockllm is the model whose answers are judged."""

from pathlib import Path
from typing import Any

import pytest
from docs_code import block
from serving_fixture import InvalidJudge, LiveServer, service

inspect_ai = pytest.importorskip("inspect_ai", reason="the inspect_ai package is in the extra dev")


@pytest.fixture
def essays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    code: dict[str, Any] = {"__name__": "judged_task"}
    exec(compile(block("judged_task.py"), "judged_task.py", "exec"), code)
    return code["essays"]


def run(task: Any, answer: str, folder: Path) -> Any:
    output = inspect_ai.model.ModelOutput.from_content("mockllm/model", answer)
    output.usage = inspect_ai.model.ModelUsage()  # else it counts tokens with a vocabulary that it downloads
    model = inspect_ai.model.get_model("mockllm/model", custom_outputs=[output])
    [log] = inspect_ai.eval(task, model=model, log_dir=str(folder), display="none")
    return log


@pytest.mark.parametrize(("answer", "value"), [("Light scatters on air, blue the most.", 1.0), ("God.", 0.0)])
def test_the_scorer_of_the_docs(essays: Any, answer: str, value: float, tmp_path: Path) -> None:
    with LiveServer(service("longer")) as server:
        log = run(essays(server.url), answer, tmp_path)
    assert log.status == "success"
    assert log.results.scores[0].metrics["mean"].value == value
    [sample] = log.samples
    assert sample.scores["judged"].answer == answer
    assert sample.scores["judged"].metadata["judge"] == "longer"


def test_without_a_valid_judgment_the_scorer_fails(essays: Any, tmp_path: Path) -> None:
    with LiveServer(service(InvalidJudge("no_answer"))) as server:
        log = run(essays(server.url), "Light.", tmp_path)
    assert log.status == "error"
    assert "none of the 2 judgments" in log.error.message
