"""Measures how many pairs a second a model judges, by evaluation, by serving, with vLLM, and one by one.

    OMP_NUM_THREADS=1 python -m scripts.bench.throughput
    OMP_NUM_THREADS=1 .venv-vllm/bin/python -m scripts.bench.throughput      # with vLLM (`make test-vllm` installs it)

The same greedy single-turn episodes, without searches: through `model.generate` of transformers one at a time; in the
local batch of `judge-r1 eval`; through `judge-r1 serve` with 16 requests at once; and through vLLM's HTTP server with
16 at once, where vLLM is installed. The sides take turns. `s_cpu` are the processor seconds of the judging process, of
the server for the last two. `differing` counts the pairs whose comparison or
principles are not those of `generate`; a model that gives no answer has none.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.client import Client
from judge_r1.core.pair_set import PairSet
from judge_r1.core.wire import JudgeResponse
from judge_r1.judges.base import Judge, JudgeBuild, run_all
from judge_r1.judges.panel import make_panel
from judge_r1.models.hub import resolve
from judge_r1.training.verl.runner import VLLM_CPU_DEFAULTS
from scripts.bench.eval import LocalEpisodes, mini
from scripts.bench.output import Row, draw_bars, parser_of, write_rows
from scripts.bench.serve import cpu_seconds, free_port, served

AT_ONCE = 16
OPTIONS = "context=none,search=false,prompt=compact"
Answers = list[Any]


@dataclass
class Side:
    """A way to judge all pairs. `process` is the one that works, None for this one."""

    run: Callable[[], Answers]
    process: int | None = None

    def measure(self) -> tuple[Answers, float, float]:
        """The answers, seconds, and seconds of the processor."""
        started, used = time.perf_counter(), self._used()
        answers = self.run()
        return answers, time.perf_counter() - started, self._used() - used

    def _used(self) -> float:
        if self.process is None:
            return time.process_time()
        children = subprocess.run(["pgrep", "-P", str(self.process)], capture_output=True, text=True, check=False)
        return sum(map(cpu_seconds, (self.process, *map(int, children.stdout.split()))))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--model", default="bundled:tiny")
    parser.add_argument("--pairs", type=int, default=64)
    parser.add_argument("--response-tokens", type=int, default=96)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    data, judge = mini(options.pairs), f"agentic:{OPTIONS},budget.response_tokens={options.response_tokens}"
    local = LocalEpisodes(pair_benchmark(data), options.model, options.response_tokens)
    with ExitStack() as stack:
        sides = {
            "generate, one at a time": Side(lambda: _actions(local, local.one_by_one())),
            "eval, local batch": Side(lambda: _actions(local, local.in_batches())),
            f"judge-r1 serve, {AT_ONCE} at once": _serve(stack, f"{judge}@{options.model}", data),
        }
        if find_spec("vllm") is not None:
            sides[f"vLLM, {AT_ONCE} at once"] = _vllm(stack, judge, options.model, data)
        for side in sides.values():
            side.run()  # a warm-up: the first calls compile, and fill caches of prompts
        found = [{name: side.measure() for name, side in sides.items()} for _ in range(options.repeats)]
    reference, *_ = sides
    rows: list[Row] = []
    for name in sides:
        rates = [options.pairs / one[name][1] for one in found]
        rows.append(
            {
                "way": name, "pairs_per_s": median(rates), "lowest": min(rates), "highest": max(rates),
                "s_cpu": median(one[name][2] for one in found),
                "times_generate": median(one[reference][1] / one[name][1] for one in found),
                "differing": sum(a != b for a, b in zip(found[0][name][0], found[0][reference][0], strict=True)),
            }
        )  # fmt: skip
    write_rows(options.out, "throughput", rows, vars(options))
    draw_bars(options.out / "throughput.svg", {row["way"]: row["pairs_per_s"] for row in rows}, x="pairs per second")


def _actions(local: LocalEpisodes, ids: Sequence[Sequence[int]]) -> Answers:
    """What the judge answered: comparison and principles."""
    answers: Answers = []
    for episode, sampled in zip(local.episodes(), ids, strict=True):
        episode.feed(sampled, [0.0] * len(sampled))
        answers.append(_of_trajectory(episode.trajectory()))
    return answers


def _of_trajectory(trajectory: Any) -> tuple[Any, ...]:
    judgment = trajectory.judgment
    comparison = judgment.comparison if judgment else None
    return comparison, tuple(judgment.violated_principles) if judgment else ()


def _serve(stack: ExitStack, judge: str, data: PairSet) -> Side:
    process, port = stack.enter_context(served("serve", "--judge", judge, "--max-concurrency", str(AT_ONCE)))
    client = stack.enter_context(Client(f"http://127.0.0.1:{port}", concurrency=AT_ONCE))
    pairs = [
        {
            "context": data.case_of(pair).context, "decision": data.case_of(pair).decision, "domain": pair.domain,
            "reasoning_a": pair.reasoning_a, "reasoning_b": pair.reasoning_b,
        }
        for pair in data.pairs
    ]  # fmt: skip

    def run() -> Answers:
        found = client.many(pairs)
        assert all(isinstance(answer, JudgeResponse) for answer in found), found[0]
        return [(a.comparison, tuple(a.violated_principles or ())) for a in found]  # type: ignore[union-attr]

    return Side(run, process.pid)


def _vllm(stack: ExitStack, judge: str, model: str, data: PairSet) -> Side:
    port = free_port()
    command = [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", resolve(model), "--port", str(port)),
        *("--host", "127.0.0.1", "--served-model-name", "judge", "--dtype", "float32", "--enforce-eager"),
        *("--max-model-len", "1024", "--max-num-seqs", str(AT_ONCE), "--logprobs-mode", "processed_logprobs"),
    ]
    log = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "vllm.log"
    process = subprocess.Popen(
        command, stdout=log.open("wb"), stderr=subprocess.STDOUT, env=VLLM_CPU_DEFAULTS | os.environ
    )
    stack.callback(process.wait, 60)
    stack.callback(process.terminate)
    while not _healthy(f"http://127.0.0.1:{port}/health"):
        if process.poll() is not None:
            raise RuntimeError(log.read_text(errors="replace")[-3000:])
        time.sleep(0.5)
    benchmark = pair_benchmark(data)
    spec = f"{judge},tokenizer={model}@vllm:http://127.0.0.1:{port}/v1#judge"
    [member] = make_panel(spec, JudgeBuild("", texts=benchmark.texts, batch_size=AT_ONCE)).members

    def run(member: Judge = member) -> Answers:
        return [_of_trajectory(output.trajectory) for output in run_all(member, benchmark.requests())]

    return Side(run, process.pid)


def _healthy(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).is_success
    except httpx.HTTPError:
        return False


if __name__ == "__main__":
    main()
