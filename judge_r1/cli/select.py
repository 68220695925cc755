"""select: write the pairs of a band of difficulty, those that a look-up rule finds or misses, or varied queries."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal

import typer

from judge_r1.cli.options import MAX_SEED, locks_out, refuse
from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted

EPS, SAMPLES, EMBEDDER = 0.1, 3, "bundled:e5-small"


@locks_out
def select(
    folder: Annotated[Path, typer.Argument(help="A folder of pairs or of conversations, or a table of queries.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    rating: Annotated[Path | None, typer.Option(help="Folder of `judge-r1 rate` on these pairs.")] = None,
    band: Annotated[
        str,
        typer.Option(metavar="LOW,HIGH", help="Shares of the rated pairs, from the hardest: 0,0.2 is the top 20 %."),
    ] = "0,1",
    pairs: Annotated[int | None, typer.Option(min=1, help="Pairs drawn from the band; all by default.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the draw.")] = 0,
    look_up: Annotated[
        Literal["found", "missed"] | None,
        typer.Option(help="Without --rating: the pairs that the judge `evidence` finds, or those that it misses."),
    ] = None,
    queries: Annotated[
        bool,
        typer.Option("--queries", help="Of a table with `instruction`: drop near duplicates, and cluster the rest."),
    ] = False,
    min_words: Annotated[int, typer.Option(min=0, help="Of --queries: least words of `response`.")] = 0,
    eps: Annotated[float, typer.Option(min=0.001, max=1, help="Of --queries: cosine distance of neighbours.")] = EPS,
    min_samples: Annotated[int, typer.Option(min=1, help="Of --queries: neighbours that make a cluster.")] = SAMPLES,
    per_cluster: Annotated[int | None, typer.Option(min=1, help="Of --queries: the most central ones to keep.")] = None,
    embedder: Annotated[str, typer.Option(help="Of --queries: the model of the vectors.")] = EMBEDDER,
) -> None:
    """Write the pairs of a band of difficulty, for example to train on easy ones. Pairs that the rating left out, such
    as those that no judge or every judge gets right, are in no band.

    With --look-up missed, write the pairs that need more than a look-up of the words that differ.

    With --queries, write queries.jsonl: the instructions of a table without near duplicates, each with its cluster
    (HelloBench, appendix B).

    Example: `judge-r1 select runs/talks --rating runs/talks-rating --band 0.4,1 --pairs 100 --out runs/easy`

    Example: `judge-r1 select runs/medical/test --look-up missed --out runs/hard`

    Example: `judge-r1 select chats.jsonl --queries --min-words 1000 --per-cluster 10 --out runs/queries`
    """
    if queries:
        refuse(
            "is for pairs, and --queries for a table", rating=rating, look_up=look_up, band=band != "0,1", pairs=pairs
        )
        _select_queries(folder, out, min_words, (eps, min_samples, per_cluster), embedder)
        return
    own = {"min_words": min_words, "eps": eps != EPS, "min_samples": min_samples != SAMPLES}
    refuse("goes with --queries", **own, per_cluster=per_cluster, embedder=embedder != EMBEDDER)
    from data_builders.audit.look_up import look_up_margins
    from data_builders.build import write_pairs
    from data_builders.conversations.parts import write_part
    from data_builders.splits.sampling import in_band
    from judge_r1.files.pair_set import PairSet, load_pairs
    from judge_r1.files.transcripts import is_conversations, read_conversations

    if (rating is None) == (look_up is None):
        raise JudgeError("give --rating or --look-up, and not both")
    if rating is None:
        refuse("goes with --rating", band=band != "0,1", pairs=pairs)
    if pairs is None:
        refuse("goes with --pairs", seed=seed)
    try:
        low, high = (float(part) for part in band.split(","))
    except ValueError:
        raise JudgeError(f"--band takes two shares such as 0,0.2, not {band!r}") from None
    if out.resolve() == folder.resolve():
        raise JudgeError(f"{out} holds the pairs themselves: give another --out")

    def write(data: PairSet, chosen: Collection[str]) -> None:
        kept = [pair for pair in data.pairs if pair.pair_id in chosen]
        write_pairs(PairSet.of([data.cases[case_id] for case_id in dict.fromkeys(p.case_id for p in kept)], kept), out)

    if rating is None:
        if is_conversations(folder):
            raise JudgeError(f"--look-up is for pairs of reasonings, and {folder} holds conversations: give --rating")
        data = load_pairs(folder)
        chosen = {one for one, margin in look_up_margins(data).items() if (margin > 0) == (look_up == "found")}
        if not chosen:
            raise JudgeError(f"the rule has {look_up} none of the {counted(len(data.pairs), 'pair')} of {folder}")
        write(data, chosen)
        print(f"{out}: {len(chosen)} of {counted(len(data.pairs), 'pair')} {look_up} by the rule")
        return
    if is_conversations(folder):
        found = in_band(rating, {pair.pair_id for pair in read_conversations(folder)[0]}, (low, high), pairs, seed)
        write_part(folder, out, found)
    else:
        data = load_pairs(folder)
        found = in_band(rating, {pair.pair_id for pair in data.pairs}, (low, high), pairs, seed)
        write(data, found)
    elo = list(found.values())
    print(f"{out}: {counted(len(elo), 'pair')}, Elo {elo[-1]:.0f} to {elo[0]:.0f}")


def _select_queries(table: Path, out: Path, min_words: int, how: tuple[float, int, int | None], embedder: str) -> None:
    from collections import Counter

    from rich.console import Console

    from data_builders.query_selection import Clustering, read_queries, without_duplicates
    from data_builders.query_selection import select as chosen_of
    from judge_r1.evaluation.report.tables import print_grid
    from judge_r1.files.jsonl import write_jsonl
    from judge_r1.files.tabular import rows
    from retrieval.embedders import load_embedder

    skipped = Counter[str]()
    distinct = without_duplicates(read_queries(rows(table), min_words, skipped), skipped)
    found, grid = chosen_of(distinct, load_embedder(embedder), Clustering(*how), skipped)
    write_jsonl(out / "queries.jsonl", found)
    print_grid(grid, Console())
    dropped = ", ".join(f"{count} {reason}" for reason, count in skipped.items() if count)
    print(f"{out / 'queries.jsonl'}: {counted(len(found), 'instruction')}; left out: {dropped or 'none'}")
