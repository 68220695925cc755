"""Selects instructions for a benchmark from many: drops near duplicates and clusters the rest (HelloBench, App. B).

The paper drops one of two instructions that are mutual neighbours or begin alike, and clusters tags by DBSCAN. Here
near duplicates are those of `judge_r1`'s splits, and DBSCAN runs on E5 vectors of the instructions: the paper's tags,
quality filter and experts are people's and GPT-4o's work.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from data_builders.splits.near_duplicates import components, near_duplicates
from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import reasons
from judge_r1.evaluation.report.tables import Grid
from judge_r1.files.tabular import Row
from retrieval.embedders import Embedder
from retrieval.words import count_words

SAME_START = 25
"""Instructions with so many equal first characters count once, as in the paper."""
ALONE = -1
"""The cluster of an instruction that is dense with no others."""


class Query(NamedTuple):
    """A row with its instruction."""

    values: Mapping[str, Any]
    instruction: str


class Clustering(NamedTuple):
    """How near instructions of a cluster are: `eps` in cosine distance, and the least members of a dense place."""

    eps: float = 0.1
    min_samples: int = 3
    per_cluster: int | None = None


def read_queries(rows: Iterable[Row], least_words: int, skipped: Counter[str]) -> list[Query]:
    """The rows with an instruction, and with at least so many words in `response` if there is one. Raises: BadTable."""
    found = []
    for row in rows:
        instruction = row.text("instruction").strip()
        if not instruction:
            skipped["no instruction"] += 1
        elif least_words and count_words(row.text("response")) < least_words:
            skipped[f"a response of fewer than {least_words} words"] += 1
        else:
            found.append(Query(row.values, instruction))
    return found


def without_duplicates(queries: Sequence[Query], skipped: Counter[str]) -> list[Query]:
    """The first of instructions that begin alike, and the first of near duplicates."""
    starts: dict[str, int] = {}
    kept = [one for at, one in enumerate(queries) if starts.setdefault(one.instruction[:SAME_START], at) == at]
    skipped[f"the same first {SAME_START} characters"] += len(queries) - len(kept)
    roots = components(len(kept), near_duplicates(one.instruction for one in kept))
    distinct = [one for at, (one, root) in enumerate(zip(kept, roots, strict=True)) if root == at]
    skipped["a near duplicate"] += len(kept) - len(distinct)
    return distinct


def select(
    queries: Sequence[Query], embedder: Embedder, how: Clustering, skipped: Counter[str]
) -> tuple[list[dict[str, Any]], Grid]:
    """The rows with their `cluster`, the largest first, and a table of the clusters. `per_cluster` keeps the most
    central instructions of each; those that belong to no cluster (`-1`) are all kept.

    Raises:
        JudgeError: There is no instruction.
    """
    if not queries:
        raise JudgeError(f"no instruction is left (skipped: {reasons(skipped)})")
    from sklearn.cluster import DBSCAN

    vectors = np.asarray(embedder.encode_queries([one.instruction for one in queries]), dtype=np.float64)
    labels = DBSCAN(eps=how.eps, min_samples=how.min_samples, metric="cosine").fit_predict(vectors)
    sizes = Counter(int(label) for label in labels)
    order = sorted((label for label in sizes if label != ALONE), key=lambda label: (-sizes[label], label))
    chosen, cells = list[dict[str, Any]](), []
    for number, label in enumerate([*order, *([ALONE] if ALONE in sizes else [])]):
        members = [at for at in range(len(queries)) if labels[at] == label]
        cluster = ALONE if label == ALONE else number
        if cluster != ALONE:
            center = vectors[members].mean(axis=0)
            members.sort(key=lambda at: -float(vectors[at] @ center))
        kept = members if cluster == ALONE or how.per_cluster is None else members[: how.per_cluster]
        skipped["less central in its cluster"] += len(members) - len(kept)
        chosen += [{**queries[at].values, "cluster": cluster} for at in kept]
        shown = " ".join(queries[members[0]].instruction.split())
        cells.append(("alone" if cluster == ALONE else str(cluster), str(len(members)), str(len(kept)), shown[:60]))
    note = f"DBSCAN on vectors of {embedder.name}, cosine distance {how.eps:g}, {how.min_samples} instructions."
    return chosen, Grid(
        "Clusters of instructions", note, ("cluster", "instructions", "kept", "most central"), tuple(cells)
    )
