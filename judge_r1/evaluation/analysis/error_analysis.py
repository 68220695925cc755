"""What changes from one judge to another, item by item (appendix H)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged
from judge_r1.evaluation.report.tables import Estimate, Grid
from judge_r1.evaluation.summary import compared

KINDS = ("both right", "mended", "broken", "both wrong")
NOTE = (
    "Items, invalid answers are wrong. Mended: wrong in the first, right in the second; broken: the other way round. "
    "Net: accuracy of the second minus the first [95 % interval, clustered]; p: paired permutation test by cluster, "
    "two-sided."
)


def flips(one: Judged, other: Judged) -> dict[str, Any]:
    """Items by right and wrong in `one` and `other`, over all and by group, and the ids of those that changed.

    Errors: AnalysisError where an item can be half right; DifferentPairs where the rows have not the same items.
    """
    before, after = one.credits, other.credits
    for name, credits in ((one.name, before), (other.name, after)):
        if any(value not in (0.0, 1.0) for value in credits.values()):
            raise AnalysisError(f"row {name!r} has items that are half right: right and wrong cannot be told apart")
    net = compared(after, before, one.clusters)
    groups = {item.item_id: item.group for item in one.suite.items}
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
