"""The demo on the GPU: seconds of each stage beside those of the processor of the same machine, and its accuracy beside
the seeds of docs/haystack.md.

    python -m scripts.gpu_checks.haystack --out runs/gpu-check
"""

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from judge_r1.core.errors import TRY_AGAIN
from judge_r1.files.run_log import read_rows
from judge_r1.files.strict_json import read_json
from judge_r1.training.shipped_recipes import recipes_folder
from scripts.gpu_checks.check import Check, child, main

FOLDER = "haystack"
MARGIN = 0.03
"""Two standard errors of an accuracy near .9 on the demo's 390 pairs."""
RESERVE = 15
"""Seconds before the deadline in which the part writes its rows."""
ROWS = {"warm-up": "warm-up", "warm-up + GRPO": "GRPO"}
"""Rows of the demo's summary -> rows of recipes/haystack/results.json."""


def run(check: Check) -> None:
    command = [sys.executable, "-m", "judge_r1.cli", "demo", *(["--small"] if check.small else []), "--out"]
    here, there = check.out / FOLDER, check.out / f"{FOLDER}-processor"
    started = time.monotonic()
    demo = child([*command, str(here)], check.out / "demo.log")
    rival = None  # on other cores of the same machine, as far as it gets
    if check.on_gpu:
        log = check.out / "demo-processor.log"
        rival = child([*command, str(there)], log, CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="2")
    code = None
    try:
        code = demo.wait(check.seconds - RESERVE)
        check.row("demo", (time.monotonic() - started) / 60, "min", ok=code == 0)
    except subprocess.TimeoutExpired:
        check.row("demo: not finished at the deadline", check.seconds - RESERVE, "s")
    for process in filter(None, (demo, rival)):
        process.kill()
        process.wait()
    for stage in ("warmup", "grpo"):
        _stage_seconds(check, stage, here, there)
    if (here / "summary.json").exists():
        _accuracy(check, here)
    if code is None:
        sys.exit(TRY_AGAIN)


def _stage_seconds(check: Check, stage: str, on_gpu: Path, on_cpu: Path) -> None:
    """The median seconds of a step and of its parts, after the first step."""
    here, there = (read_rows(folder / stage / "metrics.jsonl")[1:] for folder in (on_gpu, on_cpu))
    for name in ("step", "generation", "search", "score", "update"):
        found, other = ([row[f"time/{name}"] for row in rows if f"time/{name}" in row] for rows in (here, there))
        if found:
            what = f"{stage}: {name}, median of {len(found)} steps (beside: the processor)"
            check.row(what, median(found), "s", expected=median(other) if other else None)


def _accuracy(check: Check, folder: Path) -> None:
    """The accuracy on the demo's held-out cases. At full size it must lie among the published seeds, with a margin for
    other pairs."""
    published = read_json(recipes_folder() / "haystack" / "results.json")["by_seed"]
    for row in read_json(folder / "summary.json")["rows"]:
        if (name := ROWS.get(row["name"])) is not None:
            seeds = [seed["accuracy"] for seed in published[name]]
            lowest, highest = min(seeds), max(seeds)
            ok = None if check.small else lowest - MARGIN <= row["accuracy"] <= highest + MARGIN
            seeds_shown = f"published seeds {lowest:.3f} to {highest:.3f}"
            check.row(f"accuracy: {row['name']}", row["accuracy"], expected=seeds_shown, ok=ok)


if __name__ == "__main__":
    main(__doc__, "haystack", run)
