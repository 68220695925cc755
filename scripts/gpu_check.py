"""Checks this project on one GPU: engine, training, memory and seconds of large models, retrieval, the demo, a judge of
real English.

    python scripts/gpu_check.py --out runs/gpu-check
    python scripts/gpu_check.py --device cpu --small                 # the same code, in minutes on a laptop
    python scripts/gpu_check.py --parts engine,size --minutes 4      # some parts; deadlines are scaled to 4 minutes

Every part is a process with its own deadline (scripts/gpu_checks/). It appends each result to OUT/results.jsonl at once
and writes OUT/PART.log; a part that crashes does not stop the next one. The table is printed at the end. Exit code 1:
a result is wrong, or a part did not finish. On a machine without a package index, bring the folder that
scripts/gpu_check_carry.sh makes.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PARTS = {"size": 150, "retrieval": 90, "haystack": 420, "engine": 100, "training": 100, "english": 540}
"""Parts in their order, with the seconds each may take. `engine` judges with the model that `haystack` trains.
`english` takes several calls on a GPU: it continues where its deadline stopped it."""
FINISHED = "finished"
NEEDED = (
    "torch", "transformers", "accelerate", "peft", "trl", "datasets", "pyarrow", "faiss", "sentence_transformers",
    "sklearn", "scipy", "pydantic", "yaml", "jinja2", "rich", "typer", "filelock", "safetensors", "tokenizers",
)  # fmt: skip


def missing_packages() -> str | None:
    """One sentence on the packages that this environment lacks; None if it lacks none."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if not missing:
        return None
    return (
        f"the GPU check needs {', '.join(missing)}, which this Python lacks: run `make setup` or, without a package "
        "index, bring the folder of scripts/gpu_check_carry.sh and install its wheels"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--small", action="store_true", help="a size for a laptop")
    parser.add_argument("--out", type=Path, default=Path("runs/gpu-check"), help="folder to write")
    parser.add_argument("--parts", default=",".join(PARTS), help="parts to run, by comma (default: all)")
    parser.add_argument("--minutes", type=float, help="scale the deadlines of the chosen parts to so many minutes")
    given = parser.parse_args()
    parts = given.parts.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"--parts: there is no {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    if sentence := missing_packages():
        parser.error(sentence)
    if given.device == "cuda" and not _has_gpu():
        parser.error("--device cuda: torch finds no GPU here; --device cpu --small runs the same code on the processor")
    given.out.mkdir(parents=True, exist_ok=True)
    _write_machine(given.out / "results.jsonl")
    scale = given.minutes * 60 / sum(PARTS[part] for part in parts) if given.minutes else 1.0
    ends = {part: _run(part, given, PARTS[part] * scale) for part in parts}
    rows = read_rows(given.out / "results.jsonl")
    print(table(rows))
    found = [f"{part}: {end}" for part, end in ends.items() if end != FINISHED]
    found += [f"{row['part']}: wrong: {row['what']}" for row in rows if row["ok"] is False]
    print("\n".join(found) or f"passed: {', '.join(parts)}")
    return 1 if found else 0


def _write_machine(results: Path) -> None:
    """The first row: the card or the processor, and the versions that matter."""
    import torch

    where = torch.cuda.get_device_name() if torch.cuda.is_available() else platform.processor() or platform.machine()
    found = [f"{name} {version(name)}" for name in ("torch", "transformers", "trl", "peft", "sentence-transformers")]
    cores = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    row = {
        "part": "machine",
        "what": where,
        "value": ", ".join([cores, *found]),
        "unit": "",
        "expected": None,
        "ok": None,
    }
    results.write_text(json.dumps(row | {"ok": None}) + "\n", encoding="utf-8")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows that the parts wrote."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a table of Markdown."""
    lines = ["| part | what | value | compared with | |", "|---|---|---|---|---|"]
    mark = {True: "ok", False: "**wrong**", None: ""}
    for row in rows:
        value, expected = (_shown(row[key], row["unit"]) for key in ("value", "expected"))
        lines.append(f"| {row['part']} | {row['what']} | {value} | {expected} | {mark[row['ok']]} |")
    return "\n".join(lines)


def _shown(value: Any, unit: str) -> str:
    if not isinstance(value, int | float):
        return value or ""
    return f"{value:,.{0 if abs(value) >= 1000 else 3 if abs(value) < 10 else 1}f} {unit}".strip()


def _run(part: str, given: Any, seconds: float) -> str:
    """Runs a part in a process group, which ends with it. Returns how it ended: `FINISHED`, or what to read or do."""
    command = [sys.executable, "-m", f"scripts.gpu_checks.{part}", "--device", given.device]
    command += ["--seconds", str(seconds), "--out", str(given.out.absolute()), *(["--small"] if given.small else [])]
    variables = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    variables |= {"PYTHONUNBUFFERED": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    if given.device == "cpu":
        variables |= {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
    log, started = given.out / f"{part}.log", time.monotonic()
    print(f"{part}: at most {seconds:.0f} s, log in {log}", flush=True)
    with log.open("w") as file:
        process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=file, stderr=file, start_new_session=True)
        try:
            code = process.wait(seconds)
            ends = {0: FINISHED, os.EX_TEMPFAIL: "not finished, run it again"}
            end = ends.get(code, f"failed with exit code {code}")
        except subprocess.TimeoutExpired:
            end = "stopped at its deadline"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    print(f"{part}: {end}, after {time.monotonic() - started:.0f} s", flush=True)
    if end != FINISHED:
        print("  " + "\n  ".join(log.read_text(errors="replace").splitlines()[-12:]), flush=True)
    return end


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


if __name__ == "__main__":
    sys.exit(main())
