"""stats: prompt lengths and balance of a set of pairs."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from judge_r1.files.file_lock import lock_folder

DEFAULT_TOKENIZER = "bundled:smollm2-135m"


def stats(
    folder: Annotated[Path, typer.Argument(help="A folder with cases.jsonl and pairs.jsonl.")],
    tokenizer: Annotated[
        str | None,
        typer.Option(help=f"The tokenizer that counts tokens [default: the recipe's model, or {DEFAULT_TOKENIZER}]."),
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option(help="Measure the prompts of this recipe's episodes; by default, prompts with the whole case."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write; that of the pairs by default.")] = None,
) -> None:
    """Prompt and context lengths, A/B and principle balance by domain, and the LRBench paper's Table 1 and Figure 3
    with this set. Writes stats.json and stats.html.

    Example: `judge-r1 stats runs/medical --tokenizer Qwen/Qwen3-8B`
    """
    from data_builders.audit.dataset_stats import as_json, compute_stats
    from data_builders.audit.stats_report import print_statistics, published, write_page
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.files.jsonl import write_json
    from judge_r1.files.pair_set import load_pairs
    from judge_r1.models.hub import load_tokenizer
    from judge_r1.training.recipe import load_recipe

    data = load_pairs(folder)
    resolved = load_recipe(recipe) if recipe else None
    name = tokenizer or (resolved.model if resolved else DEFAULT_TOKENIZER)
    episode = resolved.episode if resolved else None
    dataset_stats = compute_stats(data, SafeTokenizer(load_tokenizer(name)), name, episode)
    with lock_folder(out or folder):
        write_json((out or folder) / "stats.json", as_json(dataset_stats) | published(dataset_stats))
        write_page(dataset_stats, (out or folder) / "stats.html")
    print_statistics(dataset_stats, Console())
