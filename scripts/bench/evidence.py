"""Measures what a rule finds in the case without a language model: the judge `evidence`, beside other judges.

    python -m scripts.bench.evidence runs/evidence/*/test --part test --out docs/experiments
    python -m scripts.bench.evidence runs/evidence/*/test --part test --judge direct@bundled:smollm2-135m --limit 40

FOLDERS hold pairs, such as those of `judge-r1 split`. A row has the accuracy of a judge on a group of pairs of one
violation, with a 95 % interval over cases. A judge without a preference (a tie, an invalid answer) gets one half. The
control looks the words up in another case. With --queries, rows say how often the words of the better reasoning are in
one of three passages that a query finds with BM25.
"""

import argparse
import csv
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from data_builders.text_units.steps import split_steps
from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.records import ReasoningPair
from judge_r1.core.verdicts import preference
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.judges.base import JudgeBuild, run_all
from judge_r1.judges.evidence import CasePassages, look_up
from judge_r1.judges.panel import make_judge
from judge_r1.models.base import Sampling
from judge_r1.statistics.intervals import clustered_mean_ci
from retrieval.bm25 import BM25Index
from retrieval.differences import difference_query, differences
from retrieval.passages import split_passages
from retrieval.words import terms

GROUPS = ("P1", "P2", "P4", "P5", "multi")
SIZES, PASSAGES = (60, 100), 3
Scored = tuple[ReasoningPair, str, float]
"""A pair, the cluster of its case, and the score of a judge."""


def group_of(pair: ReasoningPair) -> str:
    return "multi" if pair.kind == "multi" else f"P{pair.violated[0]}"


def judged(data: PairSet, spec: str) -> Iterator[Scored]:
    """The scores of a judge on all pairs: 1 right, 1/2 undecided, 0 wrong."""
    benchmark, pairs = pair_benchmark(data), data.by_id()
    for output in run_all(
        make_judge(spec, JudgeBuild("", texts=benchmark.texts, sampling=Sampling(0.0))), benchmark.requests()
    ):
        item, winner = output.request.item, preference(output.verdict)
        yield pairs[item.item_id], item.cluster_id, float(winner == item.gold) if winner in ("A", "B") else 0.5


def elsewhere(data: PairSet) -> Iterator[Scored]:
    """The rule with the passages of the next case."""
    ids = sorted(data.cases)
    following = dict(zip(ids, [*ids[1:], ids[0]], strict=True))
    passages = {case_id: CasePassages(case.context) for case_id, case in data.cases.items()}
    for pair in data.pairs:
        margin = look_up(passages[following[pair.case_id]], pair.reference, pair.flawed)[0]
        yield pair, data.case_of(pair).group, (1 + (margin > 0) - (margin < 0)) / 2


def query_rows(sets: Sequence[PairSet], part: str) -> Iterator[list[object]]:
    """How often a query finds the words that only the better reasoning of a P2 pair has."""
    for size in SIZES:
        found: dict[str, list[bool]] = {"whole steps": [], "the words that differ and their neighbours": []}
        for data in sets:
            for pair in (one for one in data.pairs if group_of(one) == "P2"):
                index = BM25Index(split_passages(data.case_of(pair).context, size))
                steps = [{step.text for step in split_steps(text)} for text in (pair.reference, pair.flawed)]
                whole = " ".join(sorted(steps[0] ^ steps[1]))
                own = [
                    {term for word in difference.first.words for term in terms(word)}
                    for difference in differences(pair.reference, pair.flawed, 0)
                ]
                for name, query in zip(found, (whole, difference_query(pair.reference, pair.flawed)), strict=True):
                    shown = [set(terms(hit.passage.text)) for hit in index.search([query], PASSAGES)[0]]
                    found[name].append(all(any(words <= one for one in shown) for words in own))
        for name, hits in found.items():
            yield [part, name, f"{PASSAGES} x {size} words", len(hits), f"{sum(hits) / len(hits):.3f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--part", default="test", help="what the rows call these pairs")
    parser.add_argument("--judge", action="append", help="judges in place of evidence and longer")
    parser.add_argument("--limit", type=int, help="only the first N pairs of P2 and of P4, spread over the folders")
    parser.add_argument("--queries", action="store_true")
    parser.add_argument("--out", type=Path, help="a CSV file to append to; by default the rows are printed")
    args = parser.parse_args()
    sets = [load_pairs(folder) for folder in args.folders]
    if args.limit:
        sets = limited(sets, args.limit)
    rows: list[list[object]] = []
    if args.queries:
        rows = list(query_rows(sets, args.part))
    for judge in [] if args.queries else [*(args.judge or ("evidence", "longer")), *([] if args.judge else [""])]:
        started = time.monotonic()
        scored = [one for data in sets for one in (judged(data, judge) if judge else elsewhere(data))]
        ms = (time.monotonic() - started) / len(scored) * 1000
        for group in GROUPS:
            own = [(cluster, score) for pair, cluster, score in scored if group_of(pair) == group]
            if own:
                clusters, scores = zip(*own, strict=True)
                low, high = clustered_mean_ci(scores, clusters)
                name = judge or "evidence, another case's passages"
                mean = sum(scores) / len(scores)
                numbers = [
                    len(scores),
                    len(set(clusters)),
                    *(f"{value:.3f}" for value in (mean, low, high)),
                    f"{ms:.0f}",
                ]
                rows.append([args.part, name, group, *numbers])
    if args.out is None:
        csv.writer(sys.stdout).writerows(rows)
        return
    with args.out.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def limited(sets: Sequence[PairSet], count: int) -> list[PairSet]:
    """Up to `count` pairs of P2 and of P4, taken from the sets in turn, one of a case before a second one."""
    kept: list[list[str]] = [[] for _ in sets]
    for group in ("P2", "P4"):
        queues = [_by_turns([pair for pair in data.pairs if group_of(pair) == group]) for data in sets]
        taken = 0
        while taken < count and any(queues):
            for own, queue in zip(kept, queues, strict=True):
                if queue and taken < count:
                    own.append(queue.pop(0).pair_id)
                    taken += 1
    return [data.of_ids(own) for data, own in zip(sets, kept, strict=True) if own]


def _by_turns(pairs: Sequence[ReasoningPair]) -> list[ReasoningPair]:
    seen: dict[str, int] = {}
    ranked = []
    for pair in pairs:
        seen[pair.case_id] = rank = seen.get(pair.case_id, 0) + 1
        ranked.append((rank, pair))
    return [pair for _, pair in sorted(ranked, key=lambda one: one[0])]


if __name__ == "__main__":
    main()
