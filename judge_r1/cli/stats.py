"""stats: prompt lengths and balance of a set of pairs."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def register(app: typer.Typer) -> None:
    app.command()(stats)


def stats(
    folder: Annotated[Path, typer.Argument(help="A folder with cases.jsonl and pairs.jsonl.")],
    tokenizer: Annotated[str, typer.Option(help="The tokenizer that counts tokens.")] = "bundled:smollm2-135m",
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write; that of the pairs by default.")] = None,
) -> None:
    """Prompt and context lengths, A/B and principle balance by domain. Writes stats.json and stats.html.

    Example: `judge-r1 stats runs/medical --tokenizer Qwen/Qwen3-8B`
    """
    from data_builders.audit.dataset_stats import as_json, compute_stats
    from data_builders.audit.stats_report import print_statistics, write_page
    from judge_r1.core.jsonl import write_json
    from judge_r1.core.pair_set import load_pairs
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.models.hub import load_tokenizer

    data = load_pairs(folder)
    dataset_stats = compute_stats(data, SafeTokenizer(load_tokenizer(tokenizer)), tokenizer)
    write_json((out or folder) / "stats.json", as_json(dataset_stats))
    write_page(dataset_stats, (out or folder) / "stats.html")
    print_statistics(dataset_stats, Console())
