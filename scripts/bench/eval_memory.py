"""Peak memory of an evaluation by the number of its episodes, with an instant judge.

    python -m scripts.bench.eval_memory
    python -m scripts.bench.eval_memory --episodes 1000 10000

Every size runs in a fresh process on synthetic pairs that stay on disk: as many different items as episodes (`items`),
or four items with as many samples as make the number of episodes (`samples`). Another process writes the pairs.
`judging_MB` is the peak until the last episode is judged, `peak_MB` that with the summary and the report.
`KB_per_episode` is the growth of the latter from the smallest size.
"""

import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from judge_r1.benchmarks.lrbench import load
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.judges.panel import JudgePanel
from scripts.bench.eval import Instant
from scripts.bench.memory import peak_mb
from scripts.bench.output import Row, draw_lines, parser_of, write_rows
from scripts.bench.store import write_pairs


def write(folder: Path, items: int) -> None:
    write_pairs(folder, items, 100)


def measure(folder: Path, episodes: int) -> tuple[int, float, float, float]:
    """Episodes, peak MB after judging and at the end, and seconds of one evaluation over the pairs of a folder."""
    started = perf_counter()
    loaded = load(folder, None)
    samples = -(-episodes // len(loaded.items))
    with Evaluation(loaded, folder / "out", resume=False) as evaluation, redirect_stdout(StringIO()):
        evaluation.run(lambda: JudgePanel("row", (Instant(),), samples=samples))
        judging = peak_mb()
        evaluation.finish([])
    return samples * len(loaded.items), judging, peak_mb(), perf_counter() - started


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
                    count, judging, peak, seconds = fresh_process.apply(measure, (Path(name), episodes))
                first = series.setdefault(kind, [(count, peak)])[0]
                growth = 1000 * (peak - first[1]) / (count - first[0]) if count > first[0] else 0.0
                rows.append(
                    {
                        "kind": kind, "episodes": count, "judging_MB": judging, "peak_MB": peak,
                        "KB_per_episode": growth, "seconds": seconds,
                    }
                )  # fmt: skip
                print(rows[-1], flush=True)
                if count > first[0]:
                    series[kind].append((count, peak))
    write_rows(options.out, "eval_memory", rows, vars(options))
    draw_lines(options.out / "eval_memory.svg", series, x="episodes", y="peak memory, MB", logarithmic=False)


if __name__ == "__main__":
    main()
