"""Prints, as Markdown, the results on dev during GRPO of runs of docs/experiments/haystack_table4.md, and which claims
their sampled episodes in traces.jsonl search. A run is a folder of `scripts.run_haystack` with the shipped base.

    python -m scripts.haystack_curves runs/haystack/*/warm-fc-search
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.core.run_log import read_metrics, read_rows
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
    parser.add_argument("runs", type=Path, nargs="+", help="folders of GRPO runs")
    args = parser.parse_args()
    decode = SafeTokenizer(load_tokenizer(BASE)).decode
    tables = {}
    for run in args.runs:
        tables[run] = curves(run, decode)
        if not tables[run]["all"] or not any(tables[run][name] for name in SHARES):
            parser.error(
                f"{run}: no results on dev in metrics.jsonl, or no claim that an episode in traces.jsonl calls "
                "`differs` or `same`; give a GRPO run of at least 10 steps"
            )
    steps = sorted({step for table in tables.values() for values in table.values() for step in values})
    print("| | " + " | ".join(map(str, steps)) + " |\n" + "|---" * (len(steps) + 1) + "|")
    for run, table in tables.items():
        for name, values in table.items():
            shown = (f"{values[step]:.2f}" if step in values else "" for step in steps)
            print(f"| {run.parent.name}/{run.name}: {name} | " + " | ".join(shown) + " |")


def curves(run: Path, decode: Callable[[Sequence[int]], str]) -> dict[str, dict[int, float]]:
    """For each measure its values by step. Shares of searched claims at step n cover the samples of the `STEPS` steps
    that end there."""
    rows = [row for row in read_metrics(run / "metrics.jsonl") if "dev/accuracy" in row]
    searched = searches_by_line(read_rows(run / "traces.jsonl"), decode, last_step)
    return {
        **{name: {row["step"]: row[key] for row in rows} for name, key in MEASURES.items()},
        **{name: {n: shares[key] for n, shares in searched.items() if key in shares} for name, key in SHARES.items()},
    }


def last_step(line: Mapping[str, Any]) -> int:
    """The last step of those that are counted together with this trace's."""
    return -(-int(line["step"]) // STEPS) * STEPS


if __name__ == "__main__":
    main()
