"""The results of an evaluation: one `ItemResult` per item and panel, computed from the traces of its votes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.folders_below import name_below
from judge_r1.core.items import Item, ItemResult, item_result
from judge_r1.core.jsonl import read_jsonl
from judge_r1.evaluation.label_results import label_result, searches_own_case
from judge_r1.evaluation.traces import EvaluationError, Trace, total_usage

OUTCOMES = "outcomes.jsonl"


class PanelResults:
    """The results of one panel on a benchmark: one result per item, in the benchmark's order, and the endpoint usage.

    `traces` gives the traces of an item by its id. It may read them from disk at every access, so that the
    trajectories of a long evaluation are not in memory together.
    """

    def __init__(
        self,
        panel: str,
        benchmark: LoadedBenchmark,
        traces: Mapping[str, Sequence[Trace]],
        items: Sequence[ItemResult],
        usage: Mapping[str, float] | None = None,
    ) -> None:
        self.panel, self.benchmark, self.traces = panel, benchmark, traces
        self.items, self.usage = items, usage

    @classmethod
    def of(
        cls,
        panel: str,
        benchmark: LoadedBenchmark,
        traces: Mapping[str, Sequence[Trace]],
        settings: Mapping[str, Any] | None = None,
    ) -> "PanelResults":
        """Computes the results in one pass over the traces. `settings` are the panel's in rows.json."""
        items, usage = [], []
        for item in benchmark.items:
            found = traces[item.item_id]
            items.append(result_of(panel, benchmark, item, found, settings))
            usage += [trace.usage for trace in found]
        return cls(panel, benchmark, traces, items, total_usage(usage))


def result_of(
    panel: str,
    benchmark: LoadedBenchmark,
    item: Item,
    traces: Sequence[Trace],
    settings: Mapping[str, Any] | None = None,
) -> ItemResult:
    """The result of an item from all of its traces, in any order."""
    ordered = sorted(traces, key=lambda trace: trace.place)
    votes = [trace.vote for trace in ordered]
    aggregated = benchmark.aggregate(item, votes)
    labels = None
    if (pair := benchmark.labels.get(item.item_id)) is not None:
        shown = [(trace.order, trace.trajectory) for trace in ordered]
        isolated = searches_own_case(settings or {})
        labels = label_result(panel, pair, shown, aggregated.verdict, isolated=isolated)
    return item_result(panel, item, votes, aggregated, labels)


def read_outcomes(out: Path) -> dict[str, list[ItemResult]]:
    """Reads `out/outcomes.jsonl`, by panel.

    Raises:
        EvaluationError: The folder holds no such file.
    """
    if not (out / OUTCOMES).exists():
        raise EvaluationError(
            f"{out} holds no {OUTCOMES}: give a folder of a finished `judge-r1 eval`{name_below(out, OUTCOMES)}"
        )
    panels: dict[str, list[ItemResult]] = {}
    for result in read_jsonl(out / OUTCOMES, ItemResult):
        panels.setdefault(result.judge, []).append(result)
    return panels
