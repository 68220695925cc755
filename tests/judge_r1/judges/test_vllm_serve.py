"""`vllm serve` behind a judge of the backend `vllm:`, and behind `judge-r1 serve` (`make test-vllm`)."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
from factories import mini_pairs
from two_nodes import free_port

from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.judges.base import Closable, JudgeBuild, JudgeOutput
from judge_r1.judges.panel import make_panel
from judge_r1.models.hub import resolve
from judge_r1.training.verl.runner import VLLM_CPU_DEFAULTS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(find_spec("vllm") is None, reason="vllm is not installed here: run `make test-vllm`"),
]
OPTIONS = (
    "context=none,prompt=compact,retriever=bm25,budget.top_k=1,budget.passage_words=3,"
    "budget.response_tokens=32,budget.observation_tokens=32"
)
VLLM_OPTIONS = "--dtype float32 --enforce-eager --max-model-len 1024 --max-num-seqs 8"
SUITE = pair_benchmark(mini_pairs(24))


class Server:
    """A command that serves `url`, with its output in `log`, from the start of a `with` block to its end."""

    def __init__(self, command: list[str], port: int, log: Path, health: str = "/health") -> None:
        self.command, self.url, self.log = command, f"http://127.0.0.1:{port}", log
        self.health = health

    def __enter__(self) -> "Server":
        with self.log.open("wb") as out:
            variables = VLLM_CPU_DEFAULTS | os.environ  # without them vLLM takes most of the memory
            self.process = subprocess.Popen(self.command, stdout=out, stderr=subprocess.STDOUT, env=variables)
        deadline = time.monotonic() + 600
        while not self._healthy():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise RuntimeError(self.log.read_text(errors="replace")[-3000:])
            time.sleep(0.5)
        return self

    def _healthy(self) -> bool:
        try:
            return httpx.get(f"{self.url}{self.health}", timeout=5).is_success
        except httpx.HTTPError:
            return False

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def vllm_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    options = f"--served-model-name judge {VLLM_OPTIONS}"
    command = [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", resolve("bundled:tiny")),
        *("--host", "127.0.0.1", "--port", str(port), "--logprobs-mode", "processed_logprobs", *options.split()),
    ]
    with Server(command, port, tmp_path_factory.mktemp("vllm") / "log") as server:
        yield f"vllm:{server.url}/v1#judge"


def outputs(spec: str) -> list[JudgeOutput]:
    import asyncio

    [member] = make_panel(spec, JudgeBuild("", texts=SUITE.texts, batch_size=4)).members
    requests = SUITE.requests()[:8]

    async def work() -> list[JudgeOutput]:
        return [output async for output in member.judge(requests)]

    by_key = {output.request.key: output for output in asyncio.run(work())}
    if isinstance(member, Closable):
        member.close()
    return [by_key[request.key] for request in requests]


def test_an_agentic_judge_on_vllm_runs_the_episodes_of_the_local_model(vllm_server: str) -> None:
    local = outputs(f"agentic:{OPTIONS}@bundled:tiny")
    served = outputs(f"agentic:{OPTIONS},tokenizer=bundled:tiny@{vllm_server}")
    assert any(sum(output.trajectory.loss_mask) > 8 for output in local)
    for one, other in zip(local, served, strict=True):
        a, b = one.trajectory, other.trajectory
        assert a.model_copy(update={"logprobs": ()}) == b.model_copy(update={"logprobs": ()})
        assert a.logprobs == pytest.approx(b.logprobs, abs=1e-4)
        assert one.verdict == other.verdict


def test_a_judge_starts_vllm_for_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in VLLM_CPU_DEFAULTS.items():
        monkeypatch.setenv(name, os.environ.get(name, value))
    monkeypatch.setenv("JUDGE_R1_VLLM_OPTIONS", VLLM_OPTIONS)
    local, started = (outputs(f"agentic:{OPTIONS}@{backend}") for backend in ("bundled:tiny", "vllm:bundled:tiny"))
    for one, other in zip(local, started, strict=True):
        assert one.trajectory.token_ids == other.trajectory.token_ids
        assert one.trajectory.logprobs == pytest.approx(other.trajectory.logprobs, abs=1e-4)
        assert one.verdict == other.verdict


def test_judge_r1_serves_a_judge_whose_model_vllm_serves(vllm_server: str, tmp_path: Path) -> None:
    port = free_port()
    spec = f"agentic:{OPTIONS},tokenizer=bundled:tiny@{vllm_server}"
    command = [sys.executable, "-m", "judge_r1.cli", "serve", "--judge", spec, "--port", str(port)]
    item = SUITE.items[0]
    case = SUITE.texts[item.case_id]
    body = {
        "context": getattr(case, "context", case),
        "decision": getattr(case, "decision", ""),
        "reasoning_a": "1. Ana paid. 2. So Ben owes.",
        "reasoning_b": "1. Ben owes.",
    }
    with Server(command, port, tmp_path / "log", health="/readyz") as server:
        answers = [httpx.post(f"{server.url}/v1/judge", json=body, timeout=300) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json()["comparison"] in ("A>B", "A<B", None)
