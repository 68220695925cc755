"""search: search one case as a judge would."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def search(
    case_file: Annotated[Path, typer.Argument(help="A cases.jsonl.")],
    query: Annotated[str, typer.Argument(help="What to look for.")],
    case_id: Annotated[str | None, typer.Option(help="The case to search; optional if the file has one case.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Passages to show.")] = 3,
    retriever: Annotated[str, typer.Option(help="bm25, bundled:e5-small, or an embedder's name.")] = "bundled:e5-small",
    passage_words: Annotated[int, typer.Option(min=1)] = 100,
) -> None:
    """Search one case, as a judge would.

    Example: `judge-r1 search runs/medical/cases.jsonl "platelet count" --case-id 0a1b2c3d4e5f6071`
    """
    from judge_r1.core.errors import JudgeError
    from judge_r1.core.records import Case
    from judge_r1.core.text_check import printable
    from judge_r1.files.jsonl import read_jsonl
    from retrieval.events import KINDS, is_trace, split_query
    from retrieval.retriever import Retriever

    cases = {case.case_id: case for case in read_jsonl(case_file, Case, unique="case_id")}
    if case_id is None:
        if len(cases) != 1:
            raise JudgeError(
                f"{case_file} holds {len(cases)} cases: choose one with --case-id, e.g. {next(iter(cases), '')}"
            )
        (case_id,) = cases
    elif case_id not in cases:
        raise JudgeError(f"{case_file} holds no case {case_id!r}: give an id of the file, e.g. {next(iter(cases), '')}")
    kinds = [value for key, value in split_query(query)[0].named if key == "kind" and value not in KINDS]
    if kinds and is_trace(cases[case_id].context):
        raise JudgeError(f"the query has the filter kind:{kinds[0]}: the kinds of events are {', '.join(KINDS)}")
    texts = {name: case.context for name, case in cases.items()}
    searcher = Retriever(texts, method=retriever, passage_words=passage_words)
    console = Console()
    hits = searcher.search([(case_id, query)], k)[0]
    if not hits:
        console.print("nothing found: no passage has a term of the query", highlight=False)
    for rank, hit in enumerate(hits, 1):
        console.rule(f"{rank}   score {hit.score:.3f}   characters {hit.passage.start}-{hit.passage.end}", align="left")
        console.print(printable(hit.passage.text), markup=False, highlight=False)
