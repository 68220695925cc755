"""index: embed the cases of a folder once, for all later runs."""

from pathlib import Path
from typing import Annotated

import typer

from judge_r1.cli.options import Engine, Workers, ray_workers, refuse
from judge_r1.core.text_check import are, counted


def index(
    path: Annotated[Path, typer.Argument(help="A folder with cases.jsonl.")],
    retriever: Annotated[
        str, typer.Option(help="bm25, bundled:e5-small, or an embedder's name.")
    ] = "intfloat/e5-base-v2",
    passage_words: Annotated[int, typer.Option(min=1, max=100_000, help="Words per passage.")] = 100,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 or mps.")] = "auto",
    engine: Engine = "local",
    workers: Workers = None,
) -> None:
    """Embed the cases of a folder once. Training and evaluation do this by themselves; run it before them where a GPU
    is free. An interrupted command continues where it stopped, and a damaged index is repaired.

    Example: `judge-r1 index runs/medical --retriever bundled:e5-small`
    """
    from judge_r1.core.errors import JudgeError
    from judge_r1.episode.case_retriever import BM25, build_index, checked_texts, index_folder
    from judge_r1.episode.config import AUTO, EpisodeConfig, is_server
    from judge_r1.files.yaml_config import validated

    if is_server(retriever):
        raise JudgeError(f"{retriever} is a server, which has an index of its own: give the embedder that it uses")
    if retriever == BM25:
        of_embedders = {"passage_words": passage_words != 100, "device": device != AUTO, "engine": engine != "local"}
        refuse(f"has no effect on {BM25}, which needs no index", **of_embedders, workers=workers)
    options = {"retriever": retriever, "retriever_device": device, "budget": {"passage_words": passage_words}}
    config = validated(EpisodeConfig, options, (), "options of index")
    report = build_index(path, config, verify=True, workers=ray_workers(engine, workers))
    if report is None:
        count = len(checked_texts(path))
        print(
            f"{counted(count, 'case')} {are(count)} valid; {retriever} needs no index on disk: that of a case is built "
            "in milliseconds"
        )
    else:
        print(f"{counted(report.cases, 'case')} in {index_folder(path)}, {report.embedded} embedded now")
