"""The share of retrieved passages that come from other cases, if one index covers many cases.

This is a baseline for measurements only. Judges search the index of their own case (`retrieval.retriever`), where the
share is 0 by construction, except the baseline `search-r1`. Import contracts keep the others from both (promise 1).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged
from judge_r1.evaluation.analysis.measures import measured
from judge_r1.evaluation.report.charts import Figure, colors_of, line_chart
from judge_r1.evaluation.report.tables import Estimate, Grid
from judge_r1.judges.search_r1 import Corpus

NOTE = (
    "The queries of the judge, run on one index over several cases. From other cases: share of the top k "
    "passages [95 % interval, clustered by case]; all: share of queries whose passages are all from other cases. Cases "
    "are shuffled with a seed and cut into blocks, so that each query runs once per size. With one index per case "
    "both are 0 by construction."
)


class Asked(NamedTuple):
    """A query of an episode on a case."""

    case_id: str
    query: str


def sources(corpus: Corpus, case_ids: Sequence[str], queries: Sequence[str], k: int) -> list[list[str]]:
    """The case ids of the k best passages of each query, from one index over all given cases."""
    return [[passage.case_id for passage in found] for found in corpus.index(case_ids).search(queries, k)]


def asked(judged: Judged) -> list[Asked]:
    """The distinct queries that a judge ran, by case."""
    found: dict[Asked, None] = {}
    for item in judged.benchmark.items:
        for trace in judged.results.traces[item.item_id]:
            for turn in trace.trajectory.turns:
                if item.case_id and turn.query and turn.notice is None:
                    found[Asked(item.case_id, turn.query)] = None
    return list(found)


def out_of_case(
    corpus: Corpus, queries: Sequence[Asked], *, k: int, sizes: Sequence[int] | None = None, seed: int = 0
) -> list[dict[str, Any]]:
    """Per number of cases: the share of the top k from other cases, and the share of queries whose whole top k is.

    Queries of cases after the last whole block are not run and count as `left_out`.

    Raises:
        AnalysisError: There are no queries, or a query belongs to a case that the corpus does not hold.
    """
    if not queries:
        raise AnalysisError("no judge ran a search: there are no queries")
    cases = sorted(corpus.passages)
    if unknown := {query.case_id for query in queries} - corpus.passages.keys():
        raise AnalysisError(f"a query belongs to case {min(unknown)}, which the cases given do not hold")
    Random(seed).shuffle(cases)
    rank = {case_id: number for number, case_id in enumerate(cases)}
    # cases with queries come first, so that as few queries as possible are left out
    with_queries = {query.case_id for query in queries}
    order = [c for c in cases if c in with_queries] + [c for c in cases if c not in with_queries]
    rows = []
    for size in sizes or doubling(len(order)):
        shares, clusters, all_others = [], [], 0
        for block in (order[at : at + size] for at in range(0, len(order) - size + 1, size)):
            indexed = sorted(block, key=rank.__getitem__)  # ties between equal passages follow the shuffled order
            members = set(block)
            inside = [query for query in queries if query.case_id in members]
            found = sources(corpus, indexed, [query.query for query in inside], k) if inside else []
            for query, owners in zip(inside, found, strict=True):
                others = [owner != query.case_id for owner in owners]
                shares.append(fmean(others))
                clusters.append(query.case_id)
                all_others += all(others)
        if part := measured(shares, clusters):
            rows.append(
                {
                    "cases": size,
                    "queries": len(shares),
                    "left_out": len(queries) - len(shares),
                    "from_others": part["value"],
                    "ci95": part["ci95"],
                    "all_from_others": all_others / len(shares),
                }
            )
    return rows


def global_index(
    panels: Iterable[Judged], texts: Mapping[str, str] | None = None, seed: int = 0
) -> dict[str, dict[str, Any]]:
    """For each panel that ran searches, what one index over all cases would return for its queries.

    Retriever, passages and k are the panel's own. `texts` are the cases to index (by default the benchmark's). A row
    has `retriever`, `k`, `own` and `shown` (`shown_of_own_case`) and `sizes` (`out_of_case`).

    Raises:
        AnalysisError: No panel ran a search.
    """
    found: dict[str, dict[str, Any]] = {}
    for judged in panels:
        queries = asked(judged)
        if not queries:
            continue
        searching = next((n for n, member in enumerate(judged.members) if "retriever" in member.settings), 0)
        config = judged.episode(searching)
        method, k = config.retriever, config.budget.top_k
        corpus = Corpus(judged.benchmark.texts if texts is None else texts, method, config.budget.passage_words)
        sizes = out_of_case(corpus, queries, k=k, seed=seed)
        own, shown = shown_of_own_case(judged)
        found[judged.name] = {"retriever": method, "k": k, "own": own, "shown": shown, "sizes": sizes}
    if not found:
        raise AnalysisError("no judge ran a search, so there are no queries")
    return found


def doubling(count: int) -> list[int]:
    """1, 2, 5, 10, 20, 50 and so on below `count`, and `count`."""
    sizes = [digit * 10**power for power in range(len(str(count))) for digit in (1, 2, 5)]
    return [*(size for size in sizes if size < count), count]


def shown_of_own_case(judged: Judged) -> tuple[int, int]:
    """The number of shown passages that occur verbatim in the case of their item, and the number of all shown passages.

    The two are equal for the per-case index.
    """
    own = shown = 0
    for item in judged.benchmark.items:
        text = judged.benchmark.texts.get(item.case_id or "", "")
        for trace in judged.results.traces[item.item_id]:
            for passage in (p for turn in trace.trajectory.turns for p in turn.passages):
                shown += 1
                own += passage.case_id == item.case_id and text[passage.start : passage.end] == passage.text
    return own, shown


def global_grid(name: str, found: Mapping[str, Any]) -> Grid:
    """The table of one panel of `global_index`."""
    cells = tuple(
        (
            f"{row['cases']:,}",
            f"{row['queries']:,}",
            str(row["left_out"]),
            Estimate(row["from_others"], *row["ci95"]),
            f"{row['all_from_others']:.2f}",
        )
        for row in found["sizes"]
    )
    title = (
        f"{name}: a global index ({found['retriever']}, top {found['k']}); in the evaluation "
        f"{found['own']:,} of {found['shown']:,} passages were of the same case"
    )
    return Grid(title, NOTE, ("cases", "queries", "left out", "from other cases", "all"), cells)


def global_figure(name: str, rows: Sequence[Mapping[str, Any]]) -> Figure:
    """The share of passages from other cases over the logarithm of the number of cases."""
    lines = {
        "global index": [(math.log10(row["cases"]), row["from_others"]) for row in rows],
        "one index per case": [(math.log10(row["cases"]), 0.0) for row in rows],
    }
    colors = colors_of(list(lines))
    title = f"{name}: share of passages from other cases, by log10 of the number of cases"
    return Figure(name, line_chart(title, lines, colors, dots=True), colors, f"{title}.")
