"""search, doctor: look at the retriever, look at the installation."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text


def register(app: typer.Typer) -> None:
    app.command()(search)
    app.command()(doctor)


def search(
    case_file: Annotated[Path, typer.Argument(help="A cases.jsonl.")],
    query: Annotated[str, typer.Argument(help="What to look for.")],
    case_id: Annotated[
        str | None, typer.Option(help="The case to search; may be left out if the file has one.")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Passages to show.")] = 3,
    retriever: Annotated[str, typer.Option(help="bm25, bundled:e5-small, or an embedder's name.")] = "bundled:e5-small",
    passage_words: Annotated[int, typer.Option(min=1)] = 100,
) -> None:
    """Search one case, as a judge would.

    Example: `judge-r1 search runs/medical/cases.jsonl "platelet count" --case-id 0a1b2c3d4e5f6071`
    """
    from judge_r1.core.errors import JudgeError
    from judge_r1.core.jsonl import read_jsonl
    from judge_r1.core.records import Case
    from retrieval.retriever import Retriever

    cases = {case.case_id: case for case in read_jsonl(case_file, Case, unique="case_id")}
    if case_id is None and len(cases) != 1:
        raise JudgeError(
            f"{case_file} holds {len(cases)} cases: say which one with --case-id, e.g. {next(iter(cases), '')}"
        )
    texts = {name: case.context for name, case in cases.items()}
    found = Retriever(texts, method=retriever, passage_words=passage_words)
    console = Console()
    for rank, hit in enumerate(found.search([(case_id or next(iter(cases)), query)], k)[0], 1):
        console.rule(f"{rank}   score {hit.score:.3f}   characters {hit.passage.start}-{hit.passage.end}", align="left")
        console.print(hit.passage.text, markup=False, highlight=False)


def doctor() -> None:
    """Show the versions that matter, the devices, and what is missing for what.

    Example: `judge-r1 doctor`
    """
    from judge_r1.cli.installation import PURPOSE, extras
    from judge_r1.training.run_folder import versions

    console = Console()
    matrix = Table("package", "version")
    for package, found in versions().items():
        matrix.add_row(package, found or "not installed")
    console.print(matrix)
    table = Table("extra", "what for", "state")
    lacking = extras()
    for extra, lacks in lacking.items():
        table.add_row(extra, Text(PURPOSE[extra]), Text("; ".join(map(str, lacks)) or "complete"))
    console.print(table)
    for extra in (extra for extra, lacks in lacking.items() if lacks):
        console.print(f"for {extra}: pip install 'judge-r1[{extra}]'", markup=False, highlight=False)
    for line in devices():
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def devices() -> list[str]:
    """What there is to compute with, a line each."""
    from importlib.util import find_spec

    if find_spec("torch") is None:
        return ["no torch: data can be built and checked, nothing can be trained (pip install 'judge-r1[train]')"]
    import torch

    lines = [f"CPU: {os.cpu_count()} core(s), torch uses {torch.get_num_threads()} thread(s)"]
    if not torch.cuda.is_available():
        return [*lines, "no GPU that torch can use: training runs on the CPU"]
    for number in range(torch.cuda.device_count()):
        found = torch.cuda.get_device_properties(number)
        lines.append(f"GPU {number}: {found.name}, {found.total_memory / 2**30:.0f} GiB, CUDA {torch.version.cuda}")
    return lines
