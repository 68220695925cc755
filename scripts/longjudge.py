"""LongJudgeBench beside its evaluation: what its files hold and what needs no judge, as the table of
docs/longjudgebench.md; and our traces as the release's own lines of judge outputs.

    python scripts/longjudge.py baselines --path LongJudgeBench
    python scripts/longjudge.py lines --path LongJudgeBench --subset ma --traces runs/eval --row gpt --out ma.jsonl
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from judge_r1.benchmarks import Suite
from judge_r1.benchmarks.longjudge.asking import mode_of
from judge_r1.benchmarks.longjudge.baselines import baseline_rows
from judge_r1.benchmarks.longjudge.judge_lines import written
from judge_r1.benchmarks.longjudge.measures import measures
from judge_r1.benchmarks.longjudge.query import COLUMNS, Query
from judge_r1.benchmarks.longjudge.reading import coverage, judgeable, read_queries
from judge_r1.benchmarks.longjudge.scope import Scope, scope_of
from judge_r1.errors import JudgeError
from judge_r1.evaluation.item_summary import item_row
from judge_r1.evaluation.runner import read_traces
from judge_r1.games import ItemOutcome
from judge_r1.jsonl import write_jsonl

SHOWN = ("acc_half", "spearman", "kendall", "balanced", "inconsistent", "released")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    table = commands.add_parser("baselines", help="coverage and trivial baselines as Markdown")
    lines = commands.add_parser("lines", help="traces of one row as the release's lines")
    for command in (table, lines):
        command.add_argument("--path", type=Path, required=True, help="a checkout of the benchmark")
        command.add_argument("--subset", default=None, help="as of `judge-r1 eval`")
    lines.add_argument("--traces", type=Path, required=True, help="the OUT of an evaluation")
    lines.add_argument("--row", required=True)
    lines.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    try:
        scope = scope_of(given.subset)
        queries = read_queries(given.path, scope)
        if given.command == "lines":
            mode = mode_of(queries[0], scope)
            print(write_jsonl(given.out, written(read_traces(given.traces, given.row), queries, scope, mode)), "lines")
        else:
            print_tables(queries, scope)
    except JudgeError as error:
        sys.exit(f"error: {error}")


def print_tables(queries: Sequence[Query], scope: Scope) -> None:
    print("| column | queries of the paper | with gold here | judged here | outputs of the paper | with text here |")
    print("|---|---|---|---|---|---|")
    for row in coverage(queries, scope):
        print(f"| {row.column} | {row.paper} | {row.known} | {row.judged} | {row.paper_outputs} | {row.outputs} |")
    print(f"\n| column | baseline | queries | accuracy [95 %] | {' | '.join(SHOWN)} |\n{'|---' * (4 + len(SHOWN))}|")
    able = {query.item_id: query for query in judgeable(queries, scope)}
    for column in COLUMNS:
        whole = [query for query in queries if query.column == column]
        rows = baseline_rows(whole, scope)
        present = [able[query.item_id] for query in whole if query.item_id in able]
        for name, outcomes in baseline_rows(present, scope).items():
            if name not in rows:
                rows[name] = outcomes
        for name, outcomes in rows.items():
            from_present = len(outcomes) < len(whole)
            print_row(column, name, outcomes, {q.item_id: q for q in (present if from_present else whole)})


def print_row(column: str, name: str, outcomes: Sequence[ItemOutcome], queries: dict[str, Query]) -> None:
    row = item_row(name, outcomes, {}, Suite([]))
    found = measures(queries, outcomes)
    cells = ["–" if found.get(key) is None else f"{found[key]:.4f}" for key in SHOWN]
    low, high = row["ci95"]
    print(
        f"| {column} | {name} | {row['cases']} | {row['accuracy']:.4f} [{low:.3f}, {high:.3f}] | {' | '.join(cells)} |"
    )


if __name__ == "__main__":
    main()
