"""Measures evaluation speed: the harness with an instant judge, and local batches against `model.generate`.

    python -m scripts.bench.eval harness --items 5000 --repeat 5
    python -m scripts.bench.eval batches --model bundled:tiny --items 64 --repeat 3

`harness` evaluates labelled pairs and writes their traces, each with one search and one answer; it reports items per
second. `batches` runs the same items through the local engine and, one by one, through `model.generate`, at temperature
0 without searches. It reports the speed-up and checks that both give the same ids.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.records import Trajectory, Turn
from judge_r1.core.verdicts import Evidence, Judgment
from judge_r1.episode.machine import Episode, Sample
from judge_r1.episode.rollout import task_episode
from judge_r1.episode.tags import STOP_STRINGS
from judge_r1.episode.task import PairwiseTask
from judge_r1.evaluation.runner import evaluate
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.panel import JudgePanel
from judge_r1.judges.request import JudgeRequest


@dataclass(frozen=True)
class Instant:
    """A judge without delay: it prefers A, with one search and a trajectory of 60 tokens."""

    name: str = "instant"
    settings: dict[str, Any] = field(default_factory=dict)

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        pass

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            trajectory = _trajectory(request.item.case_id or "")
            yield JudgeOutput(request, trajectory, request.read(trajectory), 0.75)


def _trajectory(case_id: str) -> Trajectory:
    passage = Evidence(case_id=case_id, start=0, end=9, text="a passage", score=1.0)
    answer = '<answer>{"comparison": "A>B", "violated_principles": [2]}</answer>'
    return Trajectory(
        prompt_ids=tuple(range(300)),
        token_ids=tuple(range(60)),
        loss_mask=(1,) * 60,
        logprobs=(-0.25,) * 60,
        turns=(Turn(text="<search>q</search>", query="q", passages=(passage,), observation="x"), Turn(text=answer)),
        judgment=Judgment.pairwise("A>B", (2,), evidence=(passage,)),
        ended="answer",
    )


def harness(data: PairSet, repeat: int) -> tuple[list[float], list[float]]:
    """Items per second with every trace on disk, by wall time and by CPU time."""
    benchmark, rates, cpu_rates = pair_benchmark(data), [], []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as folder:
            started, busy = time.perf_counter(), time.process_time()
            results = evaluate(
                JudgePanel("row", (Instant(),)), benchmark, out=Path(folder), resume=False, console=Console(quiet=True)
            )
            seconds, busy = time.perf_counter() - started, time.process_time() - busy
            traces = (Path(folder) / "traces.jsonl").read_bytes().splitlines()
            assert len(traces) == len(results.items) == len(benchmark.items)
        rates.append(len(benchmark.items) / seconds)
        cpu_rates.append(len(benchmark.items) / busy)
    return rates, cpu_rates


class LocalEpisodes:
    """The episodes of a benchmark's pairs with a model that is loaded here: one turn, greedy, without searches."""

    def __init__(self, benchmark: LoadedBenchmark, model: str, response_tokens: int) -> None:
        import torch

        from judge_r1.episode.config import EpisodeConfig
        from judge_r1.episode.tokenizer import SafeTokenizer
        from judge_r1.models.hub import eos_ids, load_model, load_tokenizer

        torch.set_num_threads(1)
        self.model, self.hf_tokenizer = load_model(model).eval(), load_tokenizer(model)
        self.tokenizer, self.ends = SafeTokenizer(self.hf_tokenizer), eos_ids(model, self.hf_tokenizer)
        self.config = EpisodeConfig.model_validate(
            {"context": "none", "search": False, "prompt": "compact", "budget": {"response_tokens": response_tokens}}
        )
        self.tasks = [request.task for request in benchmark.requests() if isinstance(request.task, PairwiseTask)]

    def episodes(self) -> list[Episode]:
        return [task_episode(task, self.config, self.tokenizer, self.ends, where="") for task in self.tasks]

    def in_batches(self) -> list[tuple[int, ...]]:
        """The sampled ids of each episode, all in one call of the local engine."""
        from judge_r1.episode.driver import EpisodeDriver
        from judge_r1.models.engine import LocalModel

        run = self.episodes()
        pad_id = self.hf_tokenizer.pad_token_id
        local = LocalModel(self.model, self.tokenizer.decode, self.ends, pad_id=pad_id, max_rows=64)
        EpisodeDriver(local).run_episodes(run, lambda _: [], 0.0)
        return [episode.trajectory().token_ids for episode in run]

    def one_by_one(self) -> list[tuple[int, ...]]:
        """The same with `model.generate` of transformers."""
        import torch

        run = self.episodes()
        for episode in run:
            while isinstance(state := episode.state, Sample):
                read = torch.tensor([[*episode.prompt_ids, *episode.token_ids]])
                with torch.no_grad():
                    ids = self.model.generate(
                        read,
                        attention_mask=torch.ones_like(read),
                        do_sample=False,
                        max_new_tokens=state.max_tokens,
                        eos_token_id=sorted(self.ends),
                        stop_strings=list(STOP_STRINGS),
                        tokenizer=self.hf_tokenizer,
                        pad_token_id=self.hf_tokenizer.pad_token_id,
                    )[0, read.shape[1] :].tolist()
                episode.feed(ids, [0.0] * len(ids))
        return [episode.trajectory().token_ids for episode in run]


def batches(benchmark: LoadedBenchmark, model_name: str, response_tokens: int, repeat: int) -> dict[str, list[float]]:
    """Seconds for the same episodes, in batches and one by one with `generate`."""
    local = LocalEpisodes(benchmark, model_name, response_tokens)
    seconds: dict[str, list[float]] = {"batches": [], "one by one": []}
    methods: dict[str, Callable[[], list[tuple[int, ...]]]] = {
        "batches": local.in_batches,
        "one by one": local.one_by_one,
    }
    for _ in range(repeat):
        ids = {}
        for name, method in methods.items():
            started = time.perf_counter()
            ids[name] = method()
            seconds[name].append(time.perf_counter() - started)
        differing = sum(a != b for a, b in zip(*ids.values(), strict=True))
        assert not differing, f"{differing} of {len(benchmark.items)} items have other ids"
    return seconds


def mini(items: int) -> PairSet:
    """Builds `items` labelled pairs of generated cases."""
    from data_builders.build import build

    with tempfile.TemporaryDirectory() as folder:
        build("mini", Path(folder), variants=1, seed=0, limit=items)
        data = load_pairs(Path(folder))
    return PairSet(data.cases, data.pairs[:items])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["harness", "batches"])
    parser.add_argument("--items", type=int, default=5000)
    parser.add_argument("--model", default="bundled:tiny")
    parser.add_argument("--response-tokens", type=int, default=96)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    data = mini(options.items)
    report: dict[str, Any] = {"items": len(data.pairs), "cases": len(data.cases)}
    if options.what == "harness":
        rates, cpu_rates = harness(data, options.repeat)
        report |= {"items_per_second": spread(rates), "items_per_cpu_second": spread(cpu_rates)}
    else:
        seconds = batches(pair_benchmark(data), options.model, options.response_tokens, options.repeat)
        report |= {"model": options.model} | {name: spread(values) for name, values in seconds.items()}
        report["ratio"] = spread([b / a for a, b in zip(seconds["batches"], seconds["one by one"], strict=True)])
    print(json.dumps(report, indent=2))


def spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": round(statistics.median(values), 2), "low": round(min(values), 2), "high": round(max(values), 2)}


if __name__ == "__main__":
    main()
