"""What every benchmark writes: a JSON file with the rows, the settings and the machine, and a plot beside it."""

import json
import os
import platform
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def parser_of(doc: str | None) -> ArgumentParser:
    """A parser whose help is the docstring of a module. It has the option `--out`."""
    about, example = (doc or "").split("\n\n", 1)
    parser = ArgumentParser(description=about, epilog=example, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/bench"), help="folder of the JSON file and the plot")
    return parser


def machine() -> Row:
    """The processor, its cores, the load of the last minute and the versions that matter."""
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return {
        "processor": names[0].split(":", 1)[1].strip() if names else platform.processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "threads": os.environ.get("OMP_NUM_THREADS", ""),
        "python": platform.python_version(),
    }


def write_rows(out: Path, name: str, rows: Sequence[Row], settings: Mapping[str, Any]) -> Path:
    """Writes `OUT/NAME.json` and prints the rows as a Markdown table."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}.json"
    content = {
        "benchmark": name,
        "command": " ".join(["python -m", f"scripts.bench.{name}", *sys.argv[1:]]),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(),
        "settings": {key: str(value) if isinstance(value, Path) else value for key, value in settings.items()},
        "rows": list(rows),
    }
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(_shown(row.get(column, "")) for column in columns) + " |")
    print(f"written to {path}", flush=True)
    return path


def _shown(value: object) -> str:
    return f"{value:,.4g}" if isinstance(value, float) and abs(value) < 1000 else f"{value:,.0f}" if isinstance(
        value, int | float
    ) and not isinstance(value, bool) else str(value)  # fmt: skip


def draw_lines(path: Path, series: Mapping[str, Sequence[tuple[float, float]]], *, x: str, y: str) -> None:
    """Draws one line for each name, on logarithmic scales."""
    axes = _axes()
    for name, points in series.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend()
    _save(axes, path)


def draw_bars(path: Path, values: Mapping[str, float], *, x: str) -> None:
    """Draws one horizontal bar for each name, on a logarithmic scale."""
    axes = _axes()
    bars = axes.barh(list(values), list(values.values()))
    axes.bar_label(bars, labels=[f"{value:,.3g}" for value in values.values()], padding=3)
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel(x)
    _save(axes, path)


def _axes() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(7, 3.6), layout="constrained")[1]


def _save(axes: Any, path: Path) -> None:
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "judge_r1"
    axes.grid(alpha=0.3)
    axes.figure.savefig(path, metadata={"Date": None})
    plt.close(axes.figure)
    print(f"written to {path}", flush=True)
