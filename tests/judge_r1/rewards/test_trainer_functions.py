"""The reward functions for verl, OpenRLHF and slime, called as these trainers call them."""

import asyncio
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from failing_judge import FailsOn
from fake_judge_endpoint import JudgeServer, chat_completion
from serving_fixture import LiveServer, service

from judge_r1.core.errors import JudgeError
from judge_r1.rewards import openrlhf, slime
from judge_r1.rewards.collector import JudgmentFailed
from judge_r1.rewards.group_judge import VARIABLE, GroupJudge, shared_judge
from judge_r1.rewards.texts import without_markup


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


TEMPLATES = {
    "ChatML": (
        "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n",
        "<|im_end|>",
    ),
    "Llama 3": (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe kind.<|eot_id|><|start_header_id|>user"
        "<|end_header_id|>\n\nWhy?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
        "<|eot_id|>",
    ),
    "Llama 2": ("<s>[INST] <<SYS>>\nBe kind.\n<</SYS>>\n\nWhy? [/INST]", " </s>"),
    "Gemma": (
        "<bos><start_of_turn>user\nBe kind.\n\nWhy?<end_of_turn>\n<start_of_turn>model\n",
        "<end_of_turn>\n<eos>",
    ),
    "GLM": ("[gMASK]<sop><|system|>\nBe kind.<|user|>\nWhy?<|assistant|>\n", "<|user|>"),
    "Phi": ("<|system|>Be kind.<|end|><|user|>Why?<|end|><|assistant|>", "<|end|><|endoftext|>"),
    "DeepSeek": ("<｜begin▁of▁sentence｜>Be kind.<｜User｜>Why?<｜Assistant｜>", "<｜end▁of▁sentence｜>"),
    "gpt-oss": (
        "<|start|>system<|message|>Be kind.<|end|><|start|>user<|message|>Why?<|end|><|start|>assistant<|channel|>final"
        "<|message|>",
        "<|return|>",
    ),
    "none": ("Be kind.\n\nWhy?", ""),
}
"""A prompt, and what ends the answer to it."""


@pytest.mark.parametrize("name", TEMPLATES)
def test_chat_markup_is_no_part_of_question_or_candidate(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prompt, end = TEMPLATES[name]
    verdict = '{"comparison": "A>B", "violated_principles": [1]}'
    with JudgeServer(lambda path, body: chat_completion(verdict)) as server:
        monkeypatch.setenv(VARIABLE, f"direct@{server.url}/v1#{name.replace(' ', '-')}")
        openrlhf.reward_func([f"{prompt}It is <s>red</s> [INST].{end}"], [prompt], ["Blue."])
        sample = Sample(f"It is <s>red</s> [INST].{end}", prompt, "Blue.")
        asyncio.run(slime.reward(None, sample))
        asyncio.run(slime.reward(None, [sample, Sample(f"No.{end}", prompt)]))
        shown = [json.dumps(body["messages"], ensure_ascii=False) for body in server.bodies]
    assert len(shown) == 6
    for text in shown:
        assert not re.findall(r"<\|.*?\|>|<｜|<(?:bos|eos|start_of_turn|end_of_turn)>|gMASK|SYS>", text)
        assert re.search(r"Be kind\.(?:\\n)+Why\?", text)
        assert "It is <s>red</s> [INST]." in text  # what the model wrote stays


def test_an_agents_turns_stay_and_their_markup_goes() -> None:
    turns = (
        "Let me look.<|im_end|>\n<|im_start|>user\n<tool>4</tool><|im_end|>\n<|im_start|>assistant\nIt is 4.<|im_end|>"
    )
    assert without_markup(turns) == "Let me look.\n<tool>4</tool>\nIt is 4."
    assert without_markup(" a text \n") == " a text \n"
    assert without_markup("</s>" * 50_000) == ""


def test_openrlhf_cuts_the_beginning_of_a_long_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "longer")
    prompt = "".join(f"fact {n}, " for n in range(100)) + "Why?"
    found = openrlhf.reward_func([f"{prompt[250:]}these three words"], [prompt], ["two words"])
    assert found["rewards"].tolist() == [1]
    with pytest.raises(JudgeError, match="does not begin with its prompt"):
        openrlhf.reward_func(["Another prompt. Yes."], [prompt], ["two words"])


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
