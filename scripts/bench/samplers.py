"""Compares the synchronous and the asynchronous path of the local engine: same weights and pairs at temperature 1.

    judge-r1 demo --source mini --out runs/mini
    OMP_NUM_THREADS=1 python -m scripts.bench.samplers --demo runs/mini --model runs/mini/warmup/model

These are numbers of docs/experiments/engines.md. Each mean has its standard error over episodes.
"""

import argparse
from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.pair_set import load_pairs
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.judges.agentic import AgenticJudge
from judge_r1.judges.base import JudgeBuild, JudgeOutput, run_all
from judge_r1.judges.runners.continuous import EngineJudge
from judge_r1.models.base import Sampling
from judge_r1.training.recipe import load_recipe

MEASURES: dict[str, Callable[[JudgeOutput], float]] = {
    "sampled tokens": lambda played: sum(played.trajectory.loss_mask),
    "valid": lambda played: float(isinstance(played.verdict, PairwiseVerdict)),
    "right": lambda played: float(played.verdict == PairwiseVerdict(winner=played.request.item.gold)),
    "searches": lambda played: played.trajectory.searches,
    "log-probability of a token": lambda played: sum(played.trajectory.logprobs) / sum(played.trajectory.loss_mask),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, default=Path("runs/mini"))
    parser.add_argument("--model", type=Path, default=Path("runs/mini/warmup/model"))
    parser.add_argument("--samples", type=int, default=4)
    given = parser.parse_args()
    benchmark = pair_benchmark(load_pairs(given.demo / "data" / "test"))
    config = load_recipe(given.demo / "grpo" / "recipe.yaml").episode
    build = JudgeBuild(str(given.model), texts=benchmark.texts, sampling=Sampling(1.0), batch_size=96)
    requests = benchmark.requests(samples=given.samples)
    for name, judge in (("lock-step", AgenticJudge(build, config)), ("dynamic batch", EngineJudge(build, config))):
        outputs = run_all(judge, requests)
        shares = [f"{measure} {_estimate([of(one) for one in outputs])}" for measure, of in MEASURES.items()]
        print(f"{name}, {len(outputs)} episodes: {'; '.join(shares)}")


def _estimate(values: Sequence[float]) -> str:
    return f"{mean(values):.3f} ± {stdev(values) / sqrt(len(values)):.3f}"


if __name__ == "__main__":
    main()
