"""Error analysis (appendix H): flips between two judges, and accuracy by similarity, length, evidence and noise."""

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from statistics import fmean
from typing import Any

import numpy as np

from judge_r1.core.items import Item
from judge_r1.episode.task import PairwiseTask
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged
from judge_r1.evaluation.report.tables import NONE, Estimate, Grid, estimate
from judge_r1.evaluation.summary import compared
from judge_r1.statistics.intervals import clustered_mean_ci
from retrieval.words import count_words, terms

KIND_OF = {(1.0, 1.0): "both right", (0.0, 1.0): "mended", (1.0, 0.0): "broken", (0.0, 0.0): "both wrong"}
"""The kind of an item by the scores of the first and of the second judge."""
KINDS = tuple(KIND_OF.values())
NOTE = (
    "Counts of items; invalid answers count as wrong. Mended: the first judge is wrong and the second right. Broken: "
    "the first judge is right and the second wrong. Net: accuracy of the second judge minus that of the first [95 % "
    "interval, clustered]. p: two-sided paired permutation test by cluster."
)


def flips(one: Judged, other: Judged) -> dict[str, Any]:
    """Compares two judges item by item: counts of each of `KINDS`, in total and by group, and the ids of the flips.

    A flip is an item that one judge gets right and the other wrong: mended if `other` is right, broken if `one` is.

    Raises:
        AnalysisError: Items have partial scores.
        DifferentPairs: The judges did not judge the same items.
    """
    before, after = one.credits, other.credits
    for name, credits in ((one.name, before), (other.name, after)):
        if any(value not in (0.0, 1.0) for value in credits.values()):
            raise AnalysisError(f"judge {name!r} has items with partial scores (half right): flips need right or wrong")
    net = compared(after, before, one.clusters)
    groups = {item.item_id: item.group for item in one.benchmark.items}
    kinds = {item_id: KIND_OF[before[item_id], after[item_id]] for item_id in before}
    return {
        "from": one.name,
        "to": other.name,
        "n": net.n,
        "all": _counts(list(kinds.values())),
        "by_group": {
            group: _counts([kinds[i] for i in kinds if groups[i] == group]) for group in sorted(set(groups.values()))
        },
        "net": net.delta,
        "ci95": net.ci95,
        "p": net.p,
        "mended": [i for i, kind in kinds.items() if kind == "mended"],
        "broken": [i for i, kind in kinds.items() if kind == "broken"],
    }


def flip_grid(found: Sequence[Mapping[str, Any]]) -> Grid:
    """The table of several results of `flips`: one row per pair of judges, and one per group if there are several."""
    rows: list[tuple[str | Estimate, ...]] = []
    for result in found:
        name = f"{result['from']} → {result['to']}"
        low, high = result["ci95"]
        net = Estimate(result["net"], low, high, signed=True)
        rows.append((name, str(result["n"]), *(str(result["all"][kind]) for kind in KINDS), net, f"{result['p']:.3g}"))
        if len(result["by_group"]) > 1:
            for group, counts in result["by_group"].items():
                total = sum(counts.values())
                rows.append((f"  {group}", str(total), *(str(counts[kind]) for kind in KINDS), "", ""))
    return Grid("Flips", NOTE, ("from → to", "items", *KINDS, "net", "p"), tuple(rows))


def _counts(kinds: Sequence[str]) -> dict[str, int]:
    counts = Counter(kinds)
    return {kind: counts[kind] for kind in KINDS}


SLICE_NOTE = (
    "Accuracy [95 % interval, clustered] (number of items). Similarity: the share of words that the two candidates "
    "have in common, in order, by quartile. Length: number of words of the case and both candidates, by quartile. "
    "Evidence (only pairs whose flaw contradicts a span of the case): hit if the judge saw a passage with that span, "
    "miss if it searched and saw none, else no search. Noise: the share of shown passages without such a span, split "
    "at the median. Slices are not randomized: differences between them may have other causes."
)


def parts_by_quartile(values: Mapping[str, float], parts: int = 4) -> dict[str, list[str]]:
    """Groups item ids by quantile of their value: quartiles by default. Each key is the range of values, "0.1 to 0.4".

    Equal values stay in one group, so there may be fewer groups than `parts`, of unequal size.
    """
    if not values:
        return {}
    cuts = np.quantile(list(values.values()), [n / parts for n in range(1, parts)])
    groups: dict[int, list[str]] = {}
    for item_id, value in values.items():
        groups.setdefault(int(np.searchsorted(cuts, value, side="left")), []).append(item_id)
    by_range = {}
    for _, ids in sorted(groups.items()):
        low, high = min(values[i] for i in ids), max(values[i] for i in ids)
        by_range[f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"] = ids
    return by_range


def similarities(items: Sequence[Item]) -> dict[str, float]:
    """The similarity of the two candidates, by item id. Items with more or fewer candidates are absent."""
    return {item.item_id: similarity(*item.texts) for item in items if len(item.candidates) == 2}


def lengths(judged: Judged) -> dict[str, float]:
    """The number of words of the case (if there is one), the instruction and the candidates, by item id."""
    word_counts = {}
    for item in judged.benchmark.items:
        task = judged.benchmark.task(item, judged.results.votes[item.item_id][0].order)
        context = task.context if isinstance(task, PairwiseTask) else ""
        word_counts[item.item_id] = float(sum(count_words(text) for text in (context, item.instruction, *item.texts)))
    return word_counts


def by_evidence(judged: Judged) -> dict[str, list[str]]:
    """Groups item ids by whether a search showed context that a flaw contradicts: hit, miss or no search.

    Items without labels or without such context are absent.
    """
    groups: dict[str, list[str]] = {"hit": [], "miss": [], "no search": []}
    for result in judged.results.items:
        if result.labels and result.labels.evidence_hit is not None:
            searched = any(vote.searches for vote in result.votes)
            key = "hit" if result.labels.evidence_hit else "miss" if searched else "no search"
            groups[key].append(result.item_id)
    return groups


def noise(judged: Judged) -> dict[str, float]:
    """The share of shown passages that contain no context that a flaw contradicts, by item id.

    Items without such context or without a shown passage are absent.
    """
    shares = {}
    for item_id, pair in judged.benchmark.labels.items():
        evidence = [span for flaw in pair.origin.flaws for span in flaw.context_spans]
        votes = judged.results.votes[item_id] if evidence and item_id in judged.clusters else []
        shown = [passage for stored in votes for turn in stored.trajectory.turns for passage in turn.passages]
        if shown:
            hits = sum(any(p.start < span.end and span.start < p.end for span in evidence) for p in shown)
            shares[item_id] = 1 - hits / len(shown)
    return shares


def slices(judged: Judged) -> dict[str, dict[str, Any]]:
    """Accuracy by slice of the items: {kind of slice: {slice: {n, accuracy, ci95}}}. Empty slices are absent."""
    kinds: dict[str, Mapping[str, list[str]]] = {
        "similarity": parts_by_quartile(similarities(judged.benchmark.items)),
        "length": parts_by_quartile(lengths(judged)),
        "evidence": by_evidence(judged),
        "noise": parts_by_quartile(noise(judged), 2),
    }
    credits, clusters = judged.credits, judged.clusters

    def accuracy(ids: Sequence[str]) -> dict[str, Any]:
        return _accuracy([credits[i] for i in ids], [clusters[i] for i in ids])

    return {kind: {name: accuracy(ids) for name, ids in parts.items() if ids} for kind, parts in kinds.items()}


def slice_grids(rows: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[Grid]:
    """One table per kind of slice, one row per judge; `rows` maps the name of a judge to its `slices`.

    Compare judges only by slices that depend on the items alone (similarity, length). Evidence and noise depend on the
    searches of the judge.
    """
    grids = []
    for kind in dict.fromkeys(kind for row in rows.values() for kind in row):
        names = list(dict.fromkeys(name for row in rows.values() for name in row.get(kind, {})))
        if not names:
            continue
        parts_of = {name: row.get(kind, {}) for name, row in rows.items()}
        cells = tuple(
            (name, *(estimate(parts[part], parts[part]["n"]) if part in parts else NONE for part in names))
            for name, parts in parts_of.items()
        )
        grids.append(Grid(f"Accuracy by {kind}", SLICE_NOTE, ("judge", *names), cells))
    return grids


def _accuracy(values: Sequence[float], clusters: Sequence[str]) -> dict[str, Any]:
    return {"n": len(values), "accuracy": fmean(values), "ci95": list(clustered_mean_ci(values, clusters))}


def similarity(one: str, other: str) -> float:
    """The Ratcliff-Obershelp similarity of two texts: 2·M / T in [0, 1].

    M is the number of words that match in order, longest common blocks first, and T the number of words of both texts.
    Words are `retrieval.words.terms`. The similarity is 1 for texts with the same words in the same order
    and 0 for texts without a common word. If several blocks are equally long, the match depends on the order of the
    two texts, so the result is the mean of both orders.
    """
    a, b = terms(one), terms(other)
    return fmean(SequenceMatcher(None, *texts, autojunk=False).ratio() for texts in ((a, b), (b, a)))
