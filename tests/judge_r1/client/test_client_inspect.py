"""The Inspect scorer and the task of `examples/` in real Inspect evaluations: its mockllm is the model."""

import math
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from paths import REPO
from serving_fixture import InvalidJudge, LiveServer, service

from judge_r1.judges.base import JudgeBuild, JudgeOutput
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.serving.middleware.api_keys import KeyFile, add_key

inspect_ai = pytest.importorskip("inspect_ai", reason="the inspect_ai package is in the extra dev")


@pytest.fixture(autouse=True)
def _quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


class Reader:
    """Judges like `longer`, but gives no verdict on a request with `skipped`. Keeps what it is asked."""

    name, settings = "reader", {}

    def __init__(self, skipped: str = "nothing of the kind") -> None:
        self.skipped = skipped
        self.asked: list[tuple[str, str, str]] = []
        self._longer, self._invalid = make_judge("longer", JudgeBuild("")), InvalidJudge("no_answer")

    def check(self, requests: Sequence[JudgeRequest]) -> None: ...

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            texts = (request.item.instruction, *(str(one) for one in request.item.candidates))
            self.asked.append(texts)  # type: ignore[arg-type]
            judge = self._invalid if any(self.skipped in text for text in texts) else self._longer
            async for output in judge.judge([request]):
                yield output


def run(task: Any, answers: Sequence[str], folder: Path) -> Any:
    outputs = [inspect_ai.model.ModelOutput.from_content("mockllm/model", answer) for answer in answers]
    for output in outputs:
        output.usage = inspect_ai.model.ModelUsage()  # else it counts tokens with a vocabulary that it downloads
    model = inspect_ai.model.get_model("mockllm/model", custom_outputs=outputs)
    [log] = inspect_ai.eval(task, model=model, log_dir=str(folder), display="none", max_samples=1)
    return log


def judge_samples(judge: Any, samples: Sequence[Any], answers: Sequence[str], folder: Path) -> Any:
    from judge_r1.integrations.inspect_plugin import judged

    with LiveServer(service(judge)) as server:
        return run(inspect_ai.Task(dataset=list(samples), scorer=judged(server.url)), answers, folder)


def sample(**fields: Any) -> Any:
    return inspect_ai.dataset.Sample(**{"input": "Why is the sky blue?", "target": "Rayleigh scattering."} | fields)


@pytest.mark.parametrize(
    ("answer", "value"), [("Light scatters on air, blue the most.", 1.0), ("God.", 0.0), ("", 0.0)]
)
def test_the_task_of_the_docs(answer: str, value: float, tmp_path: Path) -> None:
    code: dict[str, Any] = {"__name__": "judged_task"}
    exec((REPO / "examples/judged_task.py").read_text(encoding="utf-8"), code)
    with LiveServer(service("longer")) as server:
        log = run(code["essays"](server.url), [answer], tmp_path)
    assert log.status == "success"
    assert log.results.scores[0].metrics["mean"].value == value
    [found] = log.samples
    assert found.scores["judged"].answer == answer
    assert not answer or found.scores["judged"].metadata["judge"] == "longer"


def test_an_invalid_judgment_is_unscored_and_the_log_ends_with_success(tmp_path: Path) -> None:
    samples = [sample(id=number, input=f"Question {number}.") for number in range(10)]
    log = judge_samples(Reader(skipped="Question 3."), samples, ["A longer text than the target."] * 10, tmp_path)
    assert log.status == "success"
    [score] = log.results.scores
    assert (score.scored_samples, score.unscored_samples) == (9, 1)
    assert score.metrics["mean"].value == 1.0
    read = inspect_ai.log.read_eval_log(log.location)
    [missing] = [one.scores["judged"] for one in read.samples if math.isnan(one.scores["judged"].value)]
    assert "2 judgments are not valid" in str(missing.reason)


def test_samples_that_cannot_be_sent_are_unscored(tmp_path: Path) -> None:
    samples = [sample(target=""), sample(target=[]), sample(), sample()]
    log = judge_samples(Reader(), samples, ["It scatters."] * 3 + ["lone \ud800 surrogate"], tmp_path)
    assert log.status == "success"
    [score] = log.results.scores
    assert (score.scored_samples, score.unscored_samples) == (1, 3)
    blank, none, _, surrogate = (str(one.scores["judged"].reason) for one in log.samples)
    assert "reference: must not be blank" in blank
    assert none == "the sample has no target"
    assert "lone surrogate" in surrogate


def test_several_targets_are_compared_one_by_one_and_the_best_value_counts(tmp_path: Path) -> None:
    judge = Reader()
    log = judge_samples(judge, [sample(target=["Rayleigh scattering.", "Air."])], ["It scatters."], tmp_path)
    assert log.results.scores[0].metrics["mean"].value == 1.0, "it ties with one target and beats the other"
    assert {frozenset(candidates) for _, *candidates in judge.asked} == {
        frozenset({"It scatters.", "Rayleigh scattering."}),
        frozenset({"It scatters.", "Air."}),
    }


def test_a_conversation_reaches_the_judge_whole(tmp_path: Path) -> None:
    messages = [
        inspect_ai.model.ChatMessageSystem(content="Be brief."),
        inspect_ai.model.ChatMessageUser(content="The sky is red."),
        inspect_ai.model.ChatMessageAssistant(content="It is blue."),
        inspect_ai.model.ChatMessageUser(content="Why?"),
    ]
    judge = Reader()
    judge_samples(judge, [sample(input=messages), sample()], ["Scattering."] * 2, tmp_path)
    whole = "SYSTEM:\nBe brief.\n\nUSER:\nThe sky is red.\n\nASSISTANT:\nIt is blue.\n\nUSER:\nWhy?"
    assert {prompt for prompt, *_ in judge.asked} == {whole, "Why is the sky blue?"}


@pytest.mark.parametrize(
    ("scores", "value"), [([1.0, None], 1.0), ([0.5, None], math.nan), ([None], math.nan), ([0.0, 0.5], 0.5)]
)
def test_a_missing_score_counts_only_where_it_could_change_the_value(scores: list[float | None], value: float) -> None:
    from judge_r1.integrations.reference_judge import best

    assert best(scores) == pytest.approx(value, nan_ok=True)


def test_a_wrong_key_ends_the_evaluation(tmp_path: Path) -> None:
    from judge_r1.integrations.inspect_plugin import judged

    keys = tmp_path / "keys.json"
    add_key(keys, "ana")
    with LiveServer(service("longer", keys=KeyFile(keys))) as server:
        log = run(inspect_ai.Task(dataset=[sample()], scorer=judged(server.url, "jr1-no")), ["Scattering."], tmp_path)
    assert log.status == "error"
    assert "rejects the one it got" in log.error.message
