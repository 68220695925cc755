"""Peak memory of an evaluation by the number of its episodes, with an instant judge and all traces on disk.

    python -m scripts.bench.eval_memory
    python -m scripts.bench.eval_memory --episodes 1000 10000

Every size runs in a fresh process on synthetic pairs that stay on disk: as many different items as episodes (`items`),
or four items with as many samples as make the number of episodes (`samples`). Another process writes the pairs.
`KB_per_episode` is the growth from the smallest size.
"""

import tempfile
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from rich.console import Console

from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.pair_set import open_pairs
from judge_r1.evaluation.runner import evaluate
from judge_r1.judges.panel import JudgePanel
from scripts.bench.eval import Instant
from scripts.bench.memory import peak_mb
from scripts.bench.output import Row, draw_lines, parser_of, write_rows
from scripts.bench.store import write_pairs


def write(folder: Path, items: int) -> None:
    write_pairs(folder, items, 100)


def measure(folder: Path, episodes: int) -> tuple[int, float, float]:
    """Episodes, peak MB and seconds of one evaluation in this process, over the pairs of a folder."""
    data = open_pairs(folder)
    benchmark, samples = pair_benchmark(data), -(-episodes // len(data.pairs))
    started = perf_counter()
    panel = JudgePanel("row", (Instant(),), samples=samples)
    results = evaluate(panel, benchmark, out=folder / "out", resume=False, console=Console(quiet=True))
    return samples * len(results.items), peak_mb(), perf_counter() - started


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--episodes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    series: dict[str, list[tuple[float, float]]] = {}
    with get_context("spawn").Pool(1, maxtasksperchild=1) as fresh_process:
        for kind in ("items", "samples"):
            for episodes in options.episodes:
                with tempfile.TemporaryDirectory(prefix="bench-eval-memory-") as name:
                    fresh_process.apply(write, (Path(name), episodes if kind == "items" else 4))
                    count, peak, seconds = fresh_process.apply(measure, (Path(name), episodes))
                first = series.setdefault(kind, [(count, peak)])[0]
                growth = 1000 * (peak - first[1]) / (count - first[0]) if count > first[0] else 0.0
                rows.append(
                    {"kind": kind, "episodes": count, "peak_MB": peak, "KB_per_episode": growth, "seconds": seconds}
                )
                print(rows[-1], flush=True)
                if count > first[0]:
                    series[kind].append((count, peak))
    write_rows(options.out, "eval_memory", rows, vars(options))
    draw_lines(options.out / "eval_memory.svg", series, x="episodes", y="peak memory, MB", logarithmic=False)


if __name__ == "__main__":
    main()
