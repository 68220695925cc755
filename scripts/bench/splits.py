"""Measures splits and exports at LRBench's size: seconds and peak memory of each step, each in a fresh process.

    python -m scripts.bench.splits                              105,000 training pairs of 15,600 generated cases
    python -m scripts.bench.splits --words 3000                 adds 3,000 filler words to each case
    python -m scripts.bench.splits --cases 520 --sizes 100,300,500 --test 10

Each generated case yields one pair for each of the seven sets. The largest training set is exported.
"""

import argparse
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from data_builders.exports import FORMATS, Options
from data_builders.exports.export import export
from data_builders.perturb.rules.engine import perturb
from data_builders.sources.mini import EVENTS, read
from data_builders.splits.index import SETS
from data_builders.splits.policy import by_sizes, training_name
from data_builders.splits.split import split
from judge_r1.core.jsonl import AtomicFiles, dump_line
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE
from judge_r1.core.records import Case

Step = Callable[..., str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=5200, help="cases per domain")
    parser.add_argument("--words", type=int, default=0, help="filler words per context")
    parser.add_argument("--sizes", default="1000,3000,5000")
    parser.add_argument("--test", type=int, default=100)
    parser.add_argument("--formats", nargs="*", default=FORMATS.names())
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        largest = home / "split" / training_name(max(sizes) * len(SETS) * len(EVENTS))
        report("generate", generate, home / "pairs", arguments.cases, arguments.words)
        report("split", split_pairs, home / "pairs", home / "split", sizes, arguments.test)
        for name in arguments.formats:
            report(f"export {name}", export_pairs, largest, home / name, name)


def report(name: str, step: Step, *arguments: Any) -> None:
    """Runs a step in a fresh process and prints its time and memory."""
    with get_context("spawn").Pool(1) as pool:
        seconds, peak, summary = pool.apply(measured, (step, *arguments))
    print(f"{name:<12} {seconds:>7.1f} s {peak:>6} MB  {summary}", flush=True)


def measured(step: Step, *arguments: Any) -> tuple[float, int, str]:
    """Returns (seconds, peak memory of this process in MB, the summary of the step)."""
    started = time.monotonic()
    summary = step(*arguments)
    return time.monotonic() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, summary


def generate(out: Path, count: int, words: int) -> str:
    """Writes `mini` cases and their pairs, one case at a time."""
    cases, pairs, made = out / CASES_FILE, out / PAIRS_FILE, 0
    with AtomicFiles(cases, pairs) as files:
        for number, short in enumerate(read(None, count * len(EVENTS), 0, Counter())):
            case = lengthened(short, words, number)
            files.write(cases, dump_line(case))
            for pair in perturb(case, variants=1, rule_set="mini", abstained=Counter()):
                files.write(pairs, dump_line(pair))
                made += 1
    return f"{made:,} pairs of {count * len(EVENTS):,} cases"


def lengthened(case: Case, words: int, number: int) -> Case:
    """Appends filler words that the `mini` parser does not read as facts."""
    rng = Random(number)
    filler = " ".join(f"W{rng.randrange(10**6):06}" for _ in range(words))
    return Case.of(
        domain=case.domain,
        context=f"{case.context} {filler}".strip(),
        decision=case.decision,
        reference=case.reference,
        source=case.source,
        license=case.license,
    )


def split_pairs(folder: Path, out: Path, sizes: list[int], test: int) -> str:
    parts = split([folder], out, by_sizes(sizes, test, 0))["parts"]
    return ", ".join(f"{name} {part['pairs']:,}" for name, part in parts.items())


def export_pairs(folder: Path, out: Path, name: str) -> str:
    stats = export(folder, out, name, Options())["train"]
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    return f"{stats.total:,} pairs, {size / 2**20:,.0f} MB"


if __name__ == "__main__":
    main()
