"""What the parts of the GPU check share: their options, the rows that they write, and measured memory."""

import argparse
import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RESULTS = "results.jsonl"


@dataclass(frozen=True)
class Row:
    """One result. `ok` is None for a measurement that has no right value. `expected` is what `value` is compared with:
    a prediction, the same on the processor, a rival."""

    part: str
    what: str
    value: float | str
    unit: str = ""
    expected: float | str | None = None
    ok: bool | None = None


@dataclass(frozen=True)
class Check:
    """The options of a part. `small` runs every line of it at a size for a laptop; `seconds` is its deadline."""

    part: str
    device: str
    small: bool
    out: Path
    seconds: float

    @property
    def on_gpu(self) -> bool:
        return self.device == "cuda"

    def size(self, full: int, small: int) -> int:
        return small if self.small else full

    def row(
        self,
        what: str,
        value: float | str,
        unit: str = "",
        *,
        expected: float | str | None = None,
        ok: bool | None = None,
    ) -> None:
        """Appends a row to the results at once, so that a crash later loses nothing."""
        row = Row(self.part, what, value, unit, expected, ok)
        with (self.out / RESULTS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")
        print(row, flush=True)

    def count(self, what: str, found: int, of: int, *, required: bool = True) -> None:
        """A row of how many are right. With `required`, all of them must be."""
        self.row(what, found, expected=of, ok=found == of if required else None)


def main(doc: str | None, part: str, run: Callable[[Check], None]) -> None:
    """Parses the options of a part and runs it."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--out", type=Path, default=Path("runs/gpu-check"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    run(Check(part, given.device, given.small, given.out, given.seconds))


def child(command: Sequence[str], log: Path, **variables: str) -> "subprocess.Popen[bytes]":
    """Starts a process that writes to a log."""
    with log.open("w") as file:
        return subprocess.Popen(command, env=os.environ | variables, stdout=file, stderr=file)


def synchronize(device: str) -> None:
    """Waits for the kernels of the GPU."""
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


def timed(work: Callable[[], Any], device: str) -> tuple[float, Any]:
    """Seconds of `work`, until the GPU is done, and its result."""
    synchronize(device)
    started = time.perf_counter()
    result = work()
    synchronize(device)
    return time.perf_counter() - started, result


def reset_peak(device: str) -> None:
    """Forgets the memory of earlier work, and its peak."""
    import gc

    import torch

    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def peak_gib(device: str) -> float | None:
    """The largest GiB of tensors on the GPU since `reset_peak`; None on the processor."""
    import torch

    return torch.cuda.max_memory_allocated() / 2**30 if device == "cuda" else None
