"""Prints, as Markdown, the results on dev during GRPO of runs of docs/haystack.md, and which lines their sampled
episodes search. A run is a folder of `scripts.run_haystack`.

    python -m scripts.haystack_curves runs/haystack/*/warm-fc-search
"""

import argparse
from pathlib import Path
from typing import Any

from judge_r1.core.run_log import read_metrics
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import load_tokenizer
from scripts.run_haystack import BASE, searches_by_line

MEASURES = {
    "P2": "dev/accuracy/P2",
    "P4": "dev/accuracy/P4",
    "all": "dev/accuracy",
    "label F1": "dev/reward/F1",
    "evidence": "dev/reward/evidence_hit",
}
SHARES = {"searched if `differs`": "search if differs", "searched if `same`": "search if same"}
STEPS = 10
"""Sampled episodes of so many steps are counted together."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="folders with a metrics.jsonl and a traces.jsonl")
    args = parser.parse_args()
    tables = {f"{run.parent.name}/{run.name}": curves(run) for run in args.runs}
    steps = sorted({step for table in tables.values() for values in table.values() for step in values})
    print("| | " + " | ".join(map(str, steps)) + " |\n" + "|---" * (len(steps) + 1) + "|")
    for run, table in tables.items():
        for name, values in table.items():
            shown = (f"{values[step]:.2f}" if step in values else "" for step in steps)
            print(f"| {run}: {name} | " + " | ".join(shown) + " |")


def curves(run: Path) -> dict[str, dict[int, float]]:
    """For each measure its values by step. Shares of searched lines at step n cover the samples of the `STEPS` steps
    that end there."""
    rows = [row for row in read_metrics(run / "metrics.jsonl") if "dev/accuracy" in row]
    found = {name: {row["step"]: row[key] for row in rows} for name, key in MEASURES.items()}
    decode = SafeTokenizer(load_tokenizer(BASE)).decode
    searched = searches_by_line(run / "traces.jsonl", decode, last_step)
    for name, key in SHARES.items():
        found[name] = {int(step): shares[key] for step, shares in searched.items() if key in shares}
    return found


def last_step(line: dict[str, Any]) -> str:
    """The last step of those that are counted together with this trace's."""
    return str(-(-line["step"] // STEPS) * STEPS)


if __name__ == "__main__":
    main()
