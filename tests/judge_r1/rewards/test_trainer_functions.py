"""The reward functions for verl, OpenRLHF and slime, called as these trainers call them."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from failing_judge import FailsOn
from serving_fixture import LiveServer, service

from judge_r1.core.errors import JudgeError
from judge_r1.rewards import openrlhf, slime
from judge_r1.rewards.collector import JudgmentFailed
from judge_r1.rewards.group_judge import VARIABLE, GroupJudge, shared_judge


@dataclass
class Sample:
    """The fields of `slime.utils.types.Sample` that are used."""

    response: str
    prompt: Any = "p"
    label: str | None = None
    remove_sample: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with LiveServer(service(FailsOn("broken", "no_answer"))) as server:
        monkeypatch.setenv(VARIABLE, server.url)
        yield


def test_openrlhf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "longer")
    found = openrlhf.reward_func(["p: one two", "p: one", "q: a"], ["p: ", "p: ", "q: "], ["x", "x y", "b"])
    assert found["rewards"].tolist() == found["scores"].tolist() == [1.0, 0.0, 0.5]
    with pytest.raises(JudgeError, match="no label to compare it with"):
        openrlhf.reward_func(["p: one"], ["p: "], [None])


def test_threads_share_one_judge() -> None:
    """OpenRLHF calls its function from several threads at once: a local model is loaded once."""
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: shared_judge("longer", schedule="swiss"), range(8)))
    assert len(set(map(id, found))) == 1


def test_openrlhf_raises_for_a_failed_judgment(failing: None) -> None:
    """OpenRLHF's executor logs the exception and keeps the sample without a reward."""
    with pytest.raises(JudgmentFailed, match="no_answer"):
        openrlhf.reward_func(["p: broken"], ["p: "], ["x"])


def test_slime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "longer")
    samples = [Sample(text) for text in ("one", "one two", "one two three")]
    rewards = asyncio.run(slime.reward(None, samples))
    assert rewards == sorted(rewards)
    assert sum(rewards) / 3 == pytest.approx(0.5)
    assert not any(sample.remove_sample for sample in samples)
    with pytest.raises(JudgeError, match="--group-rm"):
        asyncio.run(slime.reward(None, samples[0]))
    evaluated = [Sample(text, label="two words") for text in ("one", "these three words")]
    assert [asyncio.run(slime.reward(None, sample)) for sample in evaluated] == [0.0, 1.0]


def test_slime_masks_a_sample_without_a_judgment(failing: None) -> None:
    samples = [Sample(text) for text in ("one", "broken", "one two", "one two three")]
    rewards = asyncio.run(slime.reward(None, samples))
    assert [sample.remove_sample for sample in samples] == [False, True, False, False]
    assert samples[1].metadata == {"judge_failure": "no_answer"}
    others = [rewards[0], *rewards[2:]]
    assert rewards[1] == pytest.approx(sum(others) / 3) == pytest.approx(sum(rewards) / 4)


def test_verl(monkeypatch: pytest.MonkeyPatch) -> None:
    verl = pytest.importorskip("judge_r1.rewards.verl", reason="verl is not installed: pip install 'judge-r1[verl]'")

    def score(solution: str, judge: str) -> float:
        found = verl.compute_score("data", solution, "two words", {"question": "q", "num_turns": 2}, judge=judge)
        return float(asyncio.run(found))

    with pytest.raises(JudgeError, match=r"a row of 'data' has no extra_info\.question"):
        asyncio.run(verl.compute_score("data", "x", "y", {"num_turns": 2}, judge="longer"))
    assert [score(text, "longer") for text in ("", "two words", "these three words")] == [0.0, 0.5, 1.0]
    with (
        LiveServer(service(FailsOn("broken", "no_answer"))) as server,
        pytest.raises(JudgmentFailed, match="no_answer"),
    ):
        score("broken", server.url)


def test_a_judge_must_be_named_and_its_settings_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(JudgeError, match=VARIABLE):
        openrlhf.reward_func(["p: one"], ["p: "], ["x"])
    with pytest.raises(ValueError, match="all_pairs, circular, anchor, swiss"):
        GroupJudge("longer", schedule="ladder")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="orders is 1 or 2"):
        GroupJudge("longer", orders=3)  # type: ignore[arg-type]
    with pytest.raises(JudgeError, match="begins with http:// or https://"):
        GroupJudge("127.0.0.1:8000")
    with pytest.raises(JudgeError, match="names no model"):
        GroupJudge("direct")
