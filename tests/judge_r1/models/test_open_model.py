"""Every backend of a SPEC opens as one `LanguageModel`."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from fake_judge_endpoint import JudgeServer

from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.endpoint import EndpointError
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.judges.base import JudgeBuild, run_all
from judge_r1.judges.panel import make_judge
from judge_r1.models.base import GenerateRequest
from judge_r1.models.open_model import is_chat, is_local, open_model

SUITE = pair_benchmark(mini_pairs(1))
TURNS = (
    "<think>Look it up.</think><search>ana sampled",
    '<answer>{"comparison": "A<B", "violated_principles": [1], "explanation": "the second one"}',
)


@pytest.mark.parametrize(
    ("backend", "local", "chat"),
    [
        ("bundled:tiny", True, False),
        ("https://host/v1#m", False, True),
        ("vllm:https://host/v1#m", False, False),
        ("anthropic:m", False, True),
    ],
)
def test_the_kinds_of_backends(backend: str, local: bool, chat: bool) -> None:
    assert (is_local(backend), is_chat(backend)) == (local, chat)


def messages_api(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """Anthropic's API, which leaves the stop sequence out."""
    assert path == "/v1/messages"
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    usage = {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 5}
    content = [{"type": "text", "text": TURNS[turn]}]
    return 200, {"model": "m-2026", "content": content, "stop_reason": "stop_sequence", "usage": usage}


def test_an_agentic_judge_on_anthropic_searches_and_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    request = SUITE.requests()[0]
    with JudgeServer(messages_api) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.removesuffix("/v1"))
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-key")
        build = JudgeBuild("", texts=SUITE.texts)
        [output] = run_all(make_judge("agentic:retriever=bm25,context=none@anthropic:m", build), [request])
        first, second = server.bodies
        assert {headers["x-api-key"] for headers in server.headers} == {"sk-key"}
    assert output.verdict == PairwiseVerdict(winner="B")
    assert output.trajectory.turns[0].passages
    assert output.usage is not None
    assert (output.usage["input_tokens"], output.usage["output_tokens"], output.usage["model=m-2026"]) == (20, 10, 2)
    assert [message["role"] for message in second["messages"]] == ["user", "assistant", "user"]
    assert first["system"]
    assert "</search>" in first["stop_sequences"]
    assert not {"stop", "seed"} & first.keys()


def test_a_missing_key_is_found_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(EndpointError, match="ANTHROPIC_API_KEY"):
        open_model("anthropic:m", concurrency=1)
    with pytest.raises(EndpointError, match="names no model"):
        open_model("anthropic:", concurrency=1)


def test_options_of_a_local_model_are_refused_for_a_server() -> None:
    with pytest.raises(TypeError, match="min_shared: for a local model"):
        open_model("http://127.0.0.1:1/v1#m", concurrency=1, min_shared=3)


def test_weights_are_loaded_at_the_first_use_and_a_folder_has_a_digest(model_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(model_folder, tmp_path / "model")
    opened = open_model(str(folder), concurrency=1)
    (folder / "model.safetensors").rename(tmp_path / "weights")
    assert opened.context_length
    assert opened.identity.startswith(f"{folder}@")
    (tmp_path / "weights").rename(folder / "model.safetensors")
    request = GenerateRequest(max_tokens=3, prompt_ids=[5, 6], stop_ids=opened.eos_ids)
    [found] = asyncio.run(opened.generate([request]))
    assert 1 <= len(found.token_ids) == len(found.logprobs) <= 3
    opened.close()
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(opened.generate([request]))
