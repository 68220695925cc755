"""stats: prompt lengths and balance of a set of pairs, lengths of a benchmark's outputs, or a corpus of documents."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from judge_r1.cli.options import refuse
from judge_r1.files.file_lock import lock_folder

DEFAULT_TOKENIZER = "bundled:smollm2-135m"


def stats(
    folder: Annotated[
        Path, typer.Argument(help="A folder with cases.jsonl and pairs.jsonl, or with --benchmark its files.")
    ],
    benchmark: Annotated[
        str | None, typer.Option(help="Count the tokens of this benchmark's outputs instead (`judge-r1 benchmarks`).")
    ] = None,
    subset: Annotated[str | None, typer.Option(help="Of the benchmark.")] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help=f"The tokenizer that counts tokens [default: the recipe's model, or {DEFAULT_TOKENIZER}]; "
            "or tiktoken:cl100k_base."
        ),
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option(help="Measure the prompts of this recipe's episodes; by default, prompts with the whole case."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write; that of the pairs by default.")] = None,
) -> None:
    """Prompt and context lengths, A/B and principle balance by domain, and the LRBench paper's Table 1 and Figure 3
    with this set. Writes stats.json and stats.html.

    Of a folder of `judge-r1 build cofluence` it prints the documents' lengths, decades and genres (JudgeMemo's Table
    3.1 and Figure 3.1), and writes documents.json and charts.

    With --benchmark it prints the lengths of the outputs by group, and writes lengths.json to OUT (LongJudgeBench's
    Tables 1 and 2).

    Example: `judge-r1 stats runs/medical --tokenizer Qwen/Qwen3-8B`
    """
    if benchmark is not None:
        refuse("is for a set of pairs, and --benchmark names a benchmark", recipe=recipe)
        _lengths(benchmark, folder, subset, tokenizer or DEFAULT_TOKENIZER, out)
        return
    refuse("is for --benchmark", subset=subset)
    from judge_r1.core.documents import MANIPULATIONS_FILE

    if (folder / MANIPULATIONS_FILE).is_file():
        refuse("is for a set of pairs, and this is one of documents", recipe=recipe)
        _documents(folder, tokenizer or DEFAULT_TOKENIZER, out or folder)
        return
    from data_builders.audit.dataset_stats import as_json, compute_stats
    from data_builders.audit.stats_report import print_statistics, published, write_page
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.files.jsonl import write_json
    from judge_r1.files.pair_set import load_pairs
    from judge_r1.models.hub import text_tokenizer
    from judge_r1.training.recipe import load_recipe

    data = load_pairs(folder)
    resolved = load_recipe(recipe) if recipe else None
    name = tokenizer or (resolved.model if resolved else DEFAULT_TOKENIZER)
    episode = resolved.episode if resolved else None
    dataset_stats = compute_stats(data, SafeTokenizer(text_tokenizer(name)), name, episode)
    with lock_folder(out or folder):
        write_json((out or folder) / "stats.json", as_json(dataset_stats) | published(dataset_stats))
        write_page(dataset_stats, (out or folder) / "stats.html")
    print_statistics(dataset_stats, Console())


def _lengths(benchmark: str, path: Path, subset: str | None, tokenizer: str, out: Path | None) -> None:
    from judge_r1.benchmarks.base import BENCHMARKS, files_of
    from judge_r1.core.errors import JudgeError
    from judge_r1.evaluation.output_lengths import lengths_grid, output_lengths, with_texts
    from judge_r1.evaluation.report.tables import print_grid
    from judge_r1.files.jsonl import write_json
    from judge_r1.models.token_counter import token_counter

    loaded = BENCHMARKS.get(benchmark).load(files_of(benchmark, path), subset)
    items = with_texts(loaded.items)
    if not items:
        raise JudgeError(f"{path} holds no outputs of {benchmark}: their texts are not among its files")
    found = output_lengths(items, token_counter(tokenizer))
    console = Console()
    if out is not None:
        with lock_folder(out):
            write_json(out / "lengths.json", {"tokenizer": tokenizer, "groups": found, "notes": list(loaded.notes)})
    print_grid(lengths_grid(found, tokenizer), console)
    missing = [f"{len(loaded.items) - len(items)} items without texts"] if len(items) < len(loaded.items) else []
    for note in (*loaded.notes, *missing):
        console.print(f"note: {note}", soft_wrap=True, markup=False, highlight=False)


def _documents(folder: Path, tokenizer: str, out: Path) -> None:
    from data_builders.audit.document_stats import document_stats, stats_figures, stats_grid
    from data_builders.manipulation_dataset import read_documents
    from data_builders.manipulations.tagger import Tagger, TaggerUnavailable
    from judge_r1.evaluation.analysis.output import write_analysis
    from judge_r1.evaluation.report.tables import print_grid
    from judge_r1.models.token_counter import token_counter

    console, tagger = Console(), None
    try:
        tagger = Tagger()
        tagger.sentences("Loads the model.")
    except TaggerUnavailable as error:
        console.print(f"note: sentences are not counted: {error}", soft_wrap=True, markup=False, highlight=False)
        tagger = None
    found = document_stats(list(read_documents(folder).values()), token_counter(tokenizer), tagger)
    grid = stats_grid(found, tokenizer)
    with lock_folder(out):
        written = write_analysis(out, "documents", found, [grid], stats_figures(found))
    print_grid(grid, console)
    for path in written:
        console.print(str(path), markup=False, highlight=False, soft_wrap=True)
