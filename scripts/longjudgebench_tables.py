"""LongJudgeBench tables: coverage and trivial baselines (docs/experiments/longjudgebench_baselines.md), our traces in
the release's format, and accuracy by length.

    python scripts/longjudgebench_tables.py baselines --path LongJudgeBench
    python scripts/longjudgebench_tables.py lines --path LongJudgeBench --subset ma \\
        --traces runs/eval --judge-name gpt --out ma.jsonl
    python scripts/longjudgebench_tables.py lengths --path LongJudgeBench --subset ma --predictions ma.jsonl
    python scripts/longjudgebench_tables.py prompts --path LongJudgeBench --subset ma:search \\
        --model bundled:smollm2-135m

`lengths` counts cl100k tokens with tiktoken (pip install tiktoken), which downloads the vocabulary on first use.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from judge_r1.benchmarks.aggregation import mean_or_none
from judge_r1.benchmarks.base import BadBenchmark, LoadedBenchmark, Order
from judge_r1.benchmarks.longjudgebench.aggregation import ordered_by_gold
from judge_r1.benchmarks.longjudgebench.answer_parsers import UnreadableAnswer, find_json
from judge_r1.benchmarks.longjudgebench.baselines import ANNOTATOR, baseline_results
from judge_r1.benchmarks.longjudgebench.benchmark import coverage, judgeable, load, predictions, read_queries
from judge_r1.benchmarks.longjudgebench.metrics import Count, Judged, column_metrics, comparisons
from judge_r1.benchmarks.longjudgebench.query import COLUMNS, Query
from judge_r1.benchmarks.longjudgebench.requests import mode_of
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions, parse_subset
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult
from judge_r1.core.jsonl import write_jsonl
from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.episode.prompts import pairwise_prompt
from judge_r1.evaluation.summary import summary_row
from judge_r1.evaluation.traces import Trace, read_traces
from judge_r1.judges.request import CustomPrompt
from judge_r1.models.hub import load_tokenizer

BINS = ((0, 3_000), (3_000, 8_000), (8_000, 16_000), (16_000, None))
"""The release's bins in cl100k tokens: [low, high)."""
SHOWN = ("acc_half", "spearman", "kendall", "balanced", "inconsistent", "released")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    table = commands.add_parser("baselines", help="coverage and trivial baselines as Markdown")
    lines = commands.add_parser("lines", help="convert the traces of one judge to the release's format")
    lengths = commands.add_parser("lengths", help="accuracy of a file in that format, by length")
    prompts = commands.add_parser("prompts", help="prompt lengths of a subset in tokens")
    for command in (table, lines, lengths, prompts):
        command.add_argument("--path", type=Path, required=True, help="a checkout of the benchmark")
        command.add_argument("--subset", default=None, help="a subset as in `judge-r1 eval`")
    lines.add_argument("--traces", type=Path, required=True, help="the --out folder of an evaluation")
    lines.add_argument("--judge-name", "--row", dest="row", required=True)
    lines.add_argument("--out", type=Path, required=True)
    lengths.add_argument("--predictions", type=Path, required=True)
    prompts.add_argument("--model", required=True, help="the model whose tokenizer is used")
    given = parser.parse_args()
    try:
        options = parse_subset(given.subset)
        queries = read_queries(given.path, options)
        if given.command == "lines":
            mode = mode_of(queries[0], options)
            print(
                write_jsonl(given.out, release_lines(read_traces(given.traces, given.row), queries, options, mode)),
                "lines",
            )
        elif given.command == "prompts":
            print_prompts(load(given.path, given.subset), given.model)
        elif given.command == "lengths":
            print_bins(queries, predictions(given.path, given.predictions, given.subset), cl100k())
        else:
            print_tables(queries, options)
    except JudgeError as error:
        sys.exit(f"error: {error}")


def print_tables(queries: Sequence[Query], options: SubsetOptions) -> None:
    """Prints baselines: over all of the ground truth if a rule needs no text, else over the items with text."""
    print("| column | queries of the paper | with gold here | judged here | outputs of the paper | with text here |")
    print("|---|---|---|---|---|---|")
    for row in coverage(queries, options):
        print(f"| {row.column} | {row.paper} | {row.known} | {row.judged} | {row.paper_outputs} | {row.outputs} |")
    print(f"\n| column | baseline | queries | accuracy [95 %] | {' | '.join(SHOWN)} |\n{'|---' * (4 + len(SHOWN))}|")
    able = judgeable(queries, options)
    for column in COLUMNS:
        known, there = ([query for query in part if query.column == column] for part in (queries, able))
        rows = baseline_results(known, options)
        for name, outcomes in rows.items():
            print_row(column, name, outcomes, known)
        for name, outcomes in baseline_results(there, options).items():
            if name not in rows:
                print_row(column, name, outcomes, there)


def print_row(column: str, name: str, outcomes: Sequence[ItemResult], queries: Sequence[Query]) -> None:
    counted = [outcome for outcome in outcomes if ordered_by_gold(outcome.gold)]
    row = summary_row(name, counted, {})
    found = column_metrics({query.item_id: query for query in queries}, outcomes)
    cells = ["–" if found.get(key) is None else f"{found[key]:.4f}" for key in SHOWN]
    low, high = row["ci95"]
    count = len({outcome.item_id.partition(ANNOTATOR)[0] for outcome in counted})
    print(f"| {column} | {name} | {count} | {row['accuracy']:.4f} [{low:.3f}, {high:.3f}] | {' | '.join(cells)} |")


def fixed_bins(judged: Judged, count: Count) -> dict[str, tuple[float | None, int]]:
    """(accuracy, comparisons) per bin of the release. `count` must count cl100k tokens."""
    found = list(comparisons(judged, count))
    table = {}
    for low, high in BINS:
        part = [right for length, right in found if low <= length and (high is None or length < high)]
        table[f"{low}-{high}" if high else f"{low}-"] = (mean_or_none(part), len(part))
    return table


def print_bins(queries: Sequence[Query], outcomes: Sequence[ItemResult], count: Count) -> None:
    by_item: Mapping[str, Query] = {query.item_id: query for query in queries}
    print("| tokens | comparisons | accuracy |\n|---|---|---|")
    for name, (accuracy, compared) in fixed_bins([(by_item[o.item_id], o) for o in outcomes], count).items():
        print(f"| {name} | {compared} | {'–' if accuracy is None else f'{accuracy:.4f}'} |")


def print_prompts(benchmark: LoadedBenchmark, model: str) -> None:
    """Prints requests, median and longest prompt per column. With search, prompts omit the case."""
    tokenizer = load_tokenizer(model)
    lengths: dict[str, list[int]] = defaultdict(list)
    for request in benchmark.requests():
        task = request.task
        if isinstance(task, CustomPrompt):
            prompt = task.prompt
        else:
            prompt = pairwise_prompt(task, context="none", searches=3, style="compact")
        lengths[request.item.group].append(sum(len(tokenizer.encode(message["content"])) for message in prompt.chat()))
    for column, counts in lengths.items():
        print(f"{column}: {len(counts)} requests, median {median(counts):.0f}, longest {max(counts)} tokens")


def release_lines(
    traces: Iterable[Trace], queries: Sequence[Query], options: SubsetOptions, mode: str
) -> Iterator[dict[str, Any]]:
    """Converts traces of one data set (one judge, one sample, no search) to the release's lines.

    The `judge_result` of an unreadable answer holds the text as `raw` and the reason as `error`. Raises BadBenchmark.
    """
    by_item = {query.item_id: query for query in queries}
    for trace in traces:
        query = by_item.get(trace.item_id)
        if query is None:
            raise BadBenchmark(f"the trace of item {trace.item_id} belongs to another data set")
        if options.search or trace.member or trace.sample:
            raise BadBenchmark("the release's format holds one answer of one judge per prompt, without search")
        yield {
            "data_id": query.ids[trace.order[0]],
            **_output_names(query, trace.order),
            **_answer_fields(trace, query),
            "dataset": query.dataset,
            "paradigm": query.protocol,
            "prompt_mode": mode,
            "judge_model": trace.row,
        }


def _output_names(query: Query, order: Order) -> dict[str, Any]:
    names = [query.systems[index] for index in order]
    if query.protocol == "listwise":
        return {"models": names}
    return {"model": names[0]} if len(names) == 1 else {"response_a": names[0], "response_b": names[1]}


def _answer_fields(trace: Trace, query: Query) -> dict[str, Any]:
    text = trace.trajectory.turns[-1].text if trace.trajectory.turns else ""
    try:
        result = find_json(text)
    except UnreadableAnswer as error:
        verdict = trace.verdict
        reason = verdict.reason if isinstance(verdict, InvalidVerdict) else str(error)
        result = {"raw": text, "error": reason}
    if query.protocol == "pairwise":
        position = "original" if query.systems[trace.order[0]] == query.first else "swapped"
        return {"judge_result": {**result, "swap_position": position, "debiased": True}}
    return {"judge_result": result} if query.protocol == "listwise" else {"response": text, "judge_result": result}


def cl100k() -> Count:
    """Returns a counter of cl100k tokens, the unit of the release.

    Raises:
        JudgeError: tiktoken or its vocabulary is not available.
    """
    try:
        import tiktoken

        encoding = tiktoken.get_encoding("cl100k_base")
    except ModuleNotFoundError:
        raise JudgeError("lengths are in cl100k tokens, which tiktoken counts: pip install tiktoken") from None
    except OSError as error:
        raise JudgeError(
            f"tiktoken cannot fetch cl100k_base ({error}): set TIKTOKEN_CACHE_DIR to a copy of it"
        ) from None
    return lambda text: len(encoding.encode(text, disallowed_special=()))


if __name__ == "__main__":
    main()
