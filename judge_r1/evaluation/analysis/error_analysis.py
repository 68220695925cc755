"""Items whose result differs between judges, and accuracy by similarity, length and evidence (appendix H)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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
from retrieval.bm25 import words

KINDS = ("both right", "mended", "broken", "both wrong")
NOTE = (
    "Items, invalid answers are wrong. Mended: wrong in the first, right in the second; broken: the other way round. "
    "Net: accuracy of the second minus the first [95 % interval, clustered]; p: paired permutation test by cluster, "
    "two-sided."
)


def flips(one: Judged, other: Judged) -> dict[str, Any]:
    """Items by right and wrong in `one` and `other`, over all and by group, and the ids of those that changed.

    Raises: AnalysisError if items have partial scores; DifferentPairs if the judges did not judge the same items.
    """
    before, after = one.credits, other.credits
    for name, credits in ((one.name, before), (other.name, after)):
        if any(value not in (0.0, 1.0) for value in credits.values()):
            raise AnalysisError(f"judge {name!r} has items with partial scores (half right): flips need right or wrong")
    net = compared(after, before, one.clusters)
    groups = {item.item_id: item.group for item in one.benchmark.items}
    kinds = {item_id: _kind(before[item_id], after[item_id]) for item_id in before}
    return {
        "from": one.name,
        "to": other.name,
        "n": net["n"],
        "all": _counts(list(kinds.values())),
        "by_group": {
            group: _counts([kinds[i] for i in kinds if groups[i] == group]) for group in sorted(set(groups.values()))
        },
        "net": net["delta"],
        "ci95": net["ci95"],
        "p": net["p"],
        "mended": [i for i, kind in kinds.items() if kind == "mended"],
        "broken": [i for i, kind in kinds.items() if kind == "broken"],
    }


def flip_grid(found: Sequence[Mapping[str, Any]]) -> Grid:
    cells: list[tuple[str | Estimate, ...]] = []
    for each in found:
        name = f"{each['from']} → {each['to']}"
        low, high = each["ci95"]
        net = Estimate(each["net"], low, high, signed=True)
        cells.append((name, str(each["n"]), *(str(each["all"][kind]) for kind in KINDS), net, f"{each['p']:.3g}"))
        if len(each["by_group"]) > 1:
            for group, counts in each["by_group"].items():
                total = sum(counts.values())
                cells.append((f"  {group}", str(total), *(str(counts[kind]) for kind in KINDS), "", ""))
    return Grid("Flips", NOTE, ("from → to", "items", *KINDS, "net", "p"), tuple(cells))


def _kind(before: float, after: float) -> str:
    return {(1.0, 1.0): "both right", (0.0, 1.0): "mended", (1.0, 0.0): "broken", (0.0, 0.0): "both wrong"}[
        before, after
    ]


def _counts(kinds: Sequence[str]) -> dict[str, int]:
    counts = Counter(kinds)
    return {kind: counts[kind] for kind in KINDS}


SLICE_NOTE = (
    "Accuracy [95 % interval, clustered] (items). Similarity: words that the two candidates share in order, by "
    "quartile. Length: words of the case and both candidates, by quartile. Evidence, for pairs whose flaw contradicts "
    "a span of the case: hit, a passage with that span was shown; miss, searched but not shown; no search. Noise: "
    "the share of shown passages without such a span, by half. Slices are not randomised: differences between them "
    "may have other causes."
)


def parts_by_quartile(values: Mapping[str, float], parts: int = 4) -> dict[str, list[str]]:
    """Item ids by quartile of their value; each part is named by the range of its values.

    Equal values stay in one part, so there may be fewer parts, of unequal size.
    """
    if not values:
        return {}
    cuts = np.quantile(list(values.values()), [n / parts for n in range(1, parts)])
    groups: dict[int, list[str]] = {}
    for item_id, value in values.items():
        groups.setdefault(int(np.searchsorted(cuts, value, side="left")), []).append(item_id)
    named = {}
    for _, ids in sorted(groups.items()):
        low, high = min(values[i] for i in ids), max(values[i] for i in ids)
        named[f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"] = ids
    return named


def similarities(items: Sequence[Item]) -> dict[str, float]:
    """The similarity of the two candidates of each pair."""
    return {item.item_id: similarity(*item.texts) for item in items if len(item.candidates) == 2}


def lengths(judged: Judged) -> dict[str, float]:
    """The number of words of the case (if there is one), the instruction and the candidates."""
    found = {}
    for item in judged.benchmark.items:
        task = judged.benchmark.task(item, judged.results.traces[item.item_id][0].order)
        context = task.context if isinstance(task, PairwiseTask) else ""
        found[item.item_id] = float(sum(len(text.split()) for text in (context, item.instruction, *item.texts)))
    return found


def by_evidence(judged: Judged) -> dict[str, list[str]]:
    """Labelled items by whether their searches showed context that a flaw contradicts."""
    groups: dict[str, list[str]] = {"hit": [], "miss": [], "no search": []}
    for result in judged.results.items:
        if result.labels and result.labels.evidence_hit is not None:
            searched = any(vote.searches for vote in result.votes)
            key = "hit" if result.labels.evidence_hit else "miss" if searched else "no search"
            groups[key].append(result.item_id)
    return groups


def noise(judged: Judged) -> dict[str, float]:
    """Per item the share of shown passages that contain no context which a flaw contradicts. Items without such context
    or without a passage are absent."""
    found = {}
    for item_id, pair in judged.benchmark.labels.items():
        wanted = [span for flaw in pair.origin.flaws for span in flaw.context_spans]
        traces = judged.results.traces[item_id] if wanted and item_id in judged.clusters else []
        shown = [passage for trace in traces for turn in trace.trajectory.turns for passage in turn.passages]
        if shown:
            hits = sum(any(p.start < span.end and span.start < p.end for span in wanted) for p in shown)
            found[item_id] = 1 - hits / len(shown)
    return found


def slices(judged: Judged) -> dict[str, dict[str, Any]]:
    """{kind of slice: {slice: {n, accuracy, ci95}}}; slices without items are absent."""
    kinds: dict[str, Callable[[], Mapping[str, list[str]]]] = {
        "similarity": lambda: parts_by_quartile(similarities(judged.benchmark.items)),
        "length": lambda: parts_by_quartile(lengths(judged)),
        "evidence": lambda: by_evidence(judged),
        "noise": lambda: parts_by_quartile(noise(judged), 2),
    }
    credits, clusters = judged.credits, judged.clusters
    return {
        kind: {
            name: _accuracy([credits[i] for i in ids], [clusters[i] for i in ids])
            for name, ids in make().items()
            if ids
        }
        for kind, make in kinds.items()
    }


def slice_grids(rows: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[Grid]:
    """One table per kind of slice, one row per judge. Judges are comparable if the slices depend only on the items."""
    grids = []
    for kind in dict.fromkeys(kind for row in rows.values() for kind in row):
        names = list(dict.fromkeys(name for row in rows.values() for name in row.get(kind, {})))
        if not names:
            continue
        cells = tuple((name, *(_cell(row.get(kind, {}).get(part)) for part in names)) for name, row in rows.items())
        grids.append(Grid(f"Accuracy by {kind}", SLICE_NOTE, ("judge", *names), cells))
    return grids


def _cell(part: Mapping[str, Any] | None) -> str | Estimate:
    return NONE if part is None else estimate(part, part["n"])


def _accuracy(values: Sequence[float], clusters: Sequence[str]) -> dict[str, Any]:
    return {"n": len(values), "accuracy": fmean(values), "ci95": list(clustered_mean_ci(values, clusters))}


def similarity(one: str, other: str) -> float:
    """2·M / T in [0, 1]: M words matched in order (longest common blocks first: Ratcliff, Obershelp), T words of both.

    Words are lower-cased runs of word characters. 1 for texts with the same words, 0 for texts without a common word.
    If blocks tie, the match depends on the order of the two texts, so the result is the mean of both orders.
    """
    a, b = words(one), words(other)
    return (_ratio(a, b) + _ratio(b, a)) / 2


def _ratio(a: Sequence[str], b: Sequence[str]) -> float:
    return SequenceMatcher(None, a, b, autojunk=False).ratio()
