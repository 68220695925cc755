"""Builds a leaderboard over many benchmarks: a judge of `mini`, a small pretrained model and baselines without a model.

    judge-r1 demo --source mini --out runs/mini
    OMP_NUM_THREADS=1 python scripts/make_leaderboard.py --data DATA --demo runs/mini --items 30

This is the table of docs/experiments/leaderboard.md. All judges evaluate the same `--items` items of each benchmark,
selected by the hash of their ids. A judge is skipped if none of its prompts fit. DATA contains the folders of the
benchmarks. Finished evaluations are not repeated.
"""

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path

from judge_r1.benchmarks.base import BENCHMARKS, LoadedBenchmark
from judge_r1.core.record_base import content_hash
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.judges.base import BadJudge, JudgeBuild
from judge_r1.judges.panel import make_panel
from judge_r1.models.base import Sampling

SMALL = "likelihood:context=full,prompt_tokens=4000,budget.response_tokens=20@bundled:smollm2-135m"
BASELINES = ("always-a", "longer", "overlap", "random")
BATCH = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--demo", type=Path, default=Path("runs/mini"))
    parser.add_argument("--out", type=Path, default=Path("runs/leaderboard"))
    parser.add_argument("--items", type=int, default=40)
    given = parser.parse_args()
    judges = {
        "tiny judge": f"agentic@{given.demo / 'grpo' / 'model'}",
        "SmolLM2-135M": SMALL,
        **{name: name for name in BASELINES},
    }
    for name, (benchmark, path, subset) in benchmarks(given.data, given.demo).items():
        loaded = sample(BENCHMARKS.get(benchmark).load(path, subset), given.items)
        with Evaluation(loaded, given.out / name, resume=True, name=name) as evaluation:
            for row, spec in judges.items():
                build = JudgeBuild("", texts=loaded.texts, sampling=Sampling(), batch_size=BATCH, limits=loaded.limits)
                try:
                    evaluation.run(partial(make_panel, f"{row}={spec}", build))
                except BadJudge as error:
                    print(f"{name}: skipped {row}: {error}")
            evaluation.finish([(row, "random") for row in evaluation.panels if row != "random"])


def benchmarks(data: Path, demo: Path) -> dict[str, tuple[str, Path, str | None]]:
    """Maps a folder name to (benchmark, path, subset)."""
    return {
        "mini": ("lrbench", demo / "data" / "test", None),
        "llmbar": ("llmbar", data / "llmbar", None),
        "judgebench": ("judgebench", data / "judgebench", None),
        "pandalm": ("pandalm", data / "pandalm", None),
        "hhh": ("hhh", data / "prometheus_eval", None),
        "mtbench-llmbar": ("llmbar", data / "llmbar", "MT-Bench"),
        "longjudge-ma": ("longjudgebench", data / "longjudgebench", "ma:search"),
    }


def sample(benchmark: LoadedBenchmark, count: int) -> LoadedBenchmark:
    """Selects `count` items by the hash of their ids and keeps the order of the benchmark."""
    selected = {item.item_id for item in sorted(benchmark.items, key=lambda item: content_hash(item.item_id))[:count]}
    return replace(benchmark, items=[item for item in benchmark.items if item.item_id in selected])


if __name__ == "__main__":
    main()
