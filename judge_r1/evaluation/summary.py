"""Builds `summary.json`: one row per panel, paired differences between panels, seconds.

Every row has the same keys; those of principle labels are there only if items are labelled.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult
from judge_r1.core.registry import suggest
from judge_r1.core.text_check import counted
from judge_r1.evaluation import metrics
from judge_r1.evaluation.folder import (
    Delta,
    Part,
    PrinciplePart,
    Row,
    RowDifference,
    Shared,
    SharedPart,
    Summary,
    System,
)
from judge_r1.evaluation.metrics import Results
from judge_r1.evaluation.result_table import ResultTable
from judge_r1.files.arrays.id_table import unpacked
from judge_r1.files.arrays.positions import LazySequence
from judge_r1.statistics.intervals import Clusters, clustered_mean_ci, different_pairs, paired_ids

Measure = Callable[[ResultTable], NDArray[np.float64]]
Extra = Callable[[Sequence[ItemResult]], dict[str, Any]]
Counts = Callable[[Any], bool]
Joint = Callable[[Mapping[str, Sequence[ItemResult]]], dict[str, Any]]
Unanswered = Literal["excluded", "wrong"]
EXCLUDED: Unanswered = "excluded"
"""How items count that the server did not answer: left out of every measure, or as invalid answers."""


def no_extra(results: Sequence[ItemResult]) -> dict[str, Any]:
    """The measures of a benchmark without own ones."""
    return {}


class BadSummary(JudgeError):
    """Results that cannot be summarized or compared; the message says why."""


def summarize(
    panels: Mapping[str, Sequence[ItemResult]],
    differences: Sequence[tuple[str, str]],
    seconds: Mapping[str, float],
    settings: Mapping[str, dict[str, Any]],
    extra: Extra = no_extra,
    counts: Counts = lambda gold: True,
    own_tables: Extra = no_extra,
    joint_tables: Joint = lambda panels: {},
    *,
    items: int | None = None,
    unanswered: Unanswered = EXCLUDED,
) -> dict[str, Any]:
    """The summary of all panels, in their order.

    `differences` names two panels each: delta is the accuracy of the first minus that of the second, on the same items.
    `seconds` are stages or panels by name; `settings` holds what each panel decoded with; `extra` computes a
    benchmark's own measures from all results, `own_tables` its own tables, and `joint_tables` those of several judges
    together, which are `tables` of the summary. Everything else is over the results whose gold `counts`. `items` is the
    number of items of the benchmark, of which a panel may lack some. `unanswered` results are `excluded` from all
    measures, and from both sides of a difference, or count as `wrong`. Intervals are 95 %, clustered.

    Raises:
        BadSummary: A panel has no settings or no results that count, holds an item twice, or is unknown.
        DifferentPairs: Two compared panels were not run on the same items.
    """
    for name in panels:
        if name not in settings:
            raise BadSummary(f"judge {name!r} comes without its decoding settings{suggest(name, settings)}")
    for name in (name for pair in differences for name in pair):
        if name not in panels:
            raise BadSummary(f"a difference names judge {name!r}, which was not evaluated{suggest(name, panels)}")

    tables = {name: ResultTable.of(results, counts) for name, results in panels.items()}
    kept = {name: table.where(table["answered"] | (unanswered != EXCLUDED)) for name, table in tables.items()}
    # A benchmark's own measures (`shown`) are over all results, also where the gold does not count, such as a tie.
    counted = {name: table.where(table["counts"]) for name, table in kept.items()}
    shown = {name: _results_of(panels[name], table) for name, table in kept.items()}

    def same_items(names: Iterable[str]) -> dict[str, ResultTable]:
        """The results of these panels on the items that none of them lacks for want of an answer."""
        chosen = {name: counted[name] for name in names}
        ids = [found.ids for found in chosen.values()]
        # A paired comparison needs both results: an item that one judge lacks leaves the other judge's side, too.
        lost = [tables[name].where(~tables[name]["answered"]).ids for name in chosen if unanswered == EXCLUDED]
        if items is not None:
            lost += [np.setxor1d(ids[0], other) for other in ids[1:]]
        if not any(map(len, lost)):
            return chosen
        return {name: found.where(~np.isin(found.ids, np.concatenate(lost))) for name, found in chosen.items()}

    judged = [name for name in counted if not settings[name].get("baseline")]
    pairs = [(a, b, same_items((a, b))) for a, b in differences]
    joint = joint_tables({name: shown[name] for name in judged}) if len(judged) > 1 else {}
    summary = Summary(
        rows=[
            summary_row(
                name,
                table,
                settings[name],
                **_lost(tables[name], items),
                extra=extra(shown[name]),
                **({"tables": found} if (found := own_tables(shown[name])) else {}),
            )
            for name, table in counted.items()
        ],
        differences=_with_holm([_difference(a, b, found) for a, b, found in pairs if any(map(len, found.values()))]),
        shared=shared_outcomes(same_items(judged)),
        seconds=dict(seconds),
        **({"tables": joint} if joint else {}),
    )
    return summary.as_dict()


def what_it_says(benchmark: LoadedBenchmark) -> dict[str, Any]:
    """What a reader of the scores must know: whether they rate texts, and notes; nothing where there is none."""
    notes = list(benchmark.notes)
    alike = sum(len(set(item.texts)) < len(item.texts) for item in benchmark.items if len(item.candidates) > 1)
    if alike:
        notes.append(
            f"{counted(alike, 'item')} of {len(benchmark.items)} {'has' if alike == 1 else 'have'} candidates with the "
            "same text: a judge that prefers one of them guesses"
        )
    return {**({"rates_texts": True} if benchmark.rates_texts else {}), **({"notes": notes} if notes else {})}


def add_systems(
    rows: Sequence[dict[str, Any]], benchmark: LoadedBenchmark, panels: Mapping[str, Sequence[ItemResult]]
) -> None:
    """Adds to the rows of a benchmark that rates texts `by_system`: the mean of the valid scores of each system's
    texts, its interval by cluster, and the numbers of texts and of those without a valid score."""
    if not benchmark.rates_texts:
        return
    systems = {item.item_id: item.systems[0] for item in benchmark.items if item.systems}
    for row in rows:
        scores: dict[str, list[tuple[float | None, str]]] = {}
        for result in panels[row["name"]]:
            if (system := systems.get(result.item_id)) is not None:
                scores.setdefault(system, []).append((result.score if result.valid else None, result.cluster_id))
        row["by_system"] = {system: _of_system(found).as_dict() for system, found in scores.items()}


def _of_system(scores: Sequence[tuple[float | None, str]]) -> System:
    valid = [(score, cluster) for score, cluster in scores if score is not None]
    values, clusters = np.array([score for score, _ in valid]), [cluster for _, cluster in valid]
    return System(
        n=len(scores),
        invalid=len(scores) - len(valid),
        accuracy=float(values.mean()) if valid else None,
        ci95=list(clustered_mean_ci(values, clusters)) if valid else None,
    )


def compared_pairs(names: Sequence[str], reference: str | None = None) -> list[tuple[str, str]]:
    """The panels to compare: each with the one before it, or all others with `reference`.

    Raises:
        BadSummary: No panel has the name of the reference.
    """
    if reference is None:
        return [(later, earlier) for earlier, later in pairwise(names)]
    if reference not in names:
        raise BadSummary(f"--reference {reference!r} names no judge of this evaluation{suggest(reference, names)}")
    return [(name, reference) for name in names if name != reference]


def _results_of(results: Sequence[ItemResult], table: ResultTable) -> Sequence[ItemResult]:
    """The results of the table, which is made of `results`."""
    return results if len(table) == len(results) else LazySequence(array("i", table.index), results.__getitem__)


def _lost(results: ResultTable, items: int | None) -> dict[str, Any]:
    """How the episodes of all items ended, the number of items that the server did not answer, and that of items
    without all their votes; None instead of 0."""
    counted = results.where(results["counts"])
    return {
        "ended": metrics.ended_counts(counted),
        "unanswered": int((~counted["answered"]).sum()) or None,
        "missing": None if items is None else (items - len(results)) or None,
    }


def shared_outcomes(panels: Mapping[str, ResultTable]) -> Shared | None:
    """The shares of the items that all judges get wrong (score 0) and right (score 1), in total and by domain; None
    without two judges of the same items."""
    sorted_ = [table.by_id() for table in panels.values()]
    if len(sorted_) < 2 or not len(first := sorted_[0]):
        return None
    # Judges of different items share no outcomes. Pairs of them that have the same items are still compared.
    if any(len(other) != len(first) or (other.ids != first.ids).any() for other in sorted_[1:]):
        return None
    scores = [table["score"] for table in sorted_]
    wrong, right = (np.all([own == score for own in scores], axis=0) for score in (0, 1))

    def shares(part: ResultTable, chosen: slice | NDArray[np.bool_]) -> SharedPart:
        all_wrong, all_right = (int(found[chosen].sum()) / len(part) for found in (wrong, right))
        return SharedPart(n=len(part), all_wrong=all_wrong, all_right=all_right)

    return Shared(
        judges=list(panels),
        **shares(first, slice(None)).as_dict(),
        by_domain={group: shares(part, np.isin(first.index, part.index)) for group, part in first.by_group().items()},
    )


def with_baselines(
    benchmark: LoadedBenchmark, panels: Mapping[str, Sequence[ItemResult]], settings: Mapping[str, dict[str, Any]]
) -> tuple[dict[str, Sequence[ItemResult]], dict[str, dict[str, Any]]]:
    """Adds the baselines that the benchmark's files give without a judge, unless a panel has the same name."""
    baselines = {name: found for name, found in benchmark.baselines(benchmark.items).items() if name not in panels}
    return {**panels, **baselines}, {**settings, **{name: {"baseline": True} for name in baselines}}


def summary_row(name: str, results: Results, settings: dict[str, Any], **more: Any) -> Row:
    """The row of one panel, with `more` columns."""
    if not len(results):
        raise BadSummary(f"judge {name!r} has no results: evaluate at least one item")
    table = ResultTable.of(results)
    if table.has_repeats():
        raise BadSummary(f"judge {name!r} holds an item twice: each item counts once")
    return Row(
        name=name,
        **_slice(table).as_dict(),
        **_label_columns(metrics.labelled(table)),
        does_not_fit=metrics.unfit_rate(table),
        accuracy_fitting=metrics.accuracy_of_fitting(table),
        valid_vote_rate=metrics.valid_vote_rate(table),
        ties=metrics.tie_rate(table),
        first_preferred=metrics.first_preferred(table),
        consistency=metrics.consistency(table),
        settings=settings,
        by_domain={group: _slice(part) for group, part in metrics.by_group(table).items()},
        by_principle=_by_principle(table),
        **more,
    )


def _slice(results: ResultTable) -> Part:
    labelled = metrics.labelled(results)
    return Part(
        n=len(results),
        cases=len(set(results.clusters.tolist())),
        accuracy=metrics.accuracy(results),
        ci95=_ci(results, _score),
        label_f1=metrics.label_mean(labelled).f1 if len(labelled) else None,
        valid_rate=metrics.valid_rate(results),
        searches=metrics.searches(results),
    )


def _label_columns(results: ResultTable) -> dict[str, Any]:
    if not len(results):
        return {}
    strict, tolerant = metrics.parser_rates(results)
    mean = metrics.label_mean(results)
    return {
        "label_f1_ci95": _ci(results, metrics.label_f1),
        "label_precision": mean.precision,
        "label_recall": mean.recall,
        "label_f1_micro": metrics.label_micro(results).f1,
        "label_f1_macro": metrics.label_macro(results).f1,
        "valid_strict": strict,
        "valid_tolerant": tolerant,
        "evidence_hit": metrics.evidence_hit_rate(results),
        "predicted_a": metrics.position_share(results),
        "gold_a": int(results["gold_a"].sum()) / len(results),
        "reward": metrics.mean_reward(results),
    }


def _by_principle(results: ResultTable) -> dict[str, PrinciplePart]:
    """An item counts under every principle it violates. `single` covers the items that violate no other (None without
    any); `named` is the share of answers that name the principle."""
    single = metrics.by_principle(results, single=True)
    return {
        f"P{number}": PrinciplePart(
            **_slice(part).as_dict(),
            named=metrics.named_rate(part, number),
            evidence_hit=metrics.evidence_hit_rate(part),
            single=_slice(single[number]) if number in single else None,
        )
        for number, part in metrics.by_principle(results).items()
    }


def _difference(a: str, b: str, panels: Mapping[str, ResultTable]) -> RowDifference:
    """The difference over all items, and over those of each group and each principle."""
    first, second = panels[a], panels[b]
    none = second.where(np.zeros(len(second), dtype=np.bool_))
    groups, principles = metrics.by_group(second), metrics.by_principle(second)
    labelled = metrics.labelled(first)
    return RowDifference(
        a=a,
        b=b,
        **_delta(first, second, _score).as_dict(),
        **({"label_f1": _delta(labelled, metrics.labelled(second), metrics.label_f1)} if len(labelled) else {}),
        by_domain={d: _delta(part, groups.get(d, none), _score) for d, part in metrics.by_group(first).items()},
        by_principle={
            f"P{p}": _delta(part, principles.get(p, none), _score) for p, part in metrics.by_principle(first).items()
        },
    )


def _with_holm(differences: list[RowDifference]) -> list[RowDifference]:
    """Adds `p_holm`: p adjusted for all differences of the summary together."""
    from judge_r1.statistics.significance import holm

    adjusted = holm({index: difference.p for index, difference in enumerate(differences)})
    return [difference.model_copy(update={"p_holm": adjusted[at]}) for at, difference in enumerate(differences)]


def compared(values_a: Mapping[str, float], values_b: Mapping[str, float], clusters: Mapping[str, str]) -> Delta:
    """mean(a) - mean(b) over the same items, its interval, and p by permutation of clusters.

    Raises:
        DifferentPairs: The items differ.
    """
    ids = paired_ids(values_a, values_b)
    return _compared(np.array([values_a[i] - values_b[i] for i in ids]), [clusters[i] for i in ids])


def _delta(a: ResultTable, b: ResultTable, measure: Measure) -> Delta:
    """`compared` of the results of two panels."""
    a, b = a.by_id(), b.by_id()
    if len(a) != len(b) or (a.ids != b.ids).any():
        raise different_pairs([unpacked(one) for one in np.setxor1d(a.ids, b.ids)])
    return _compared(measure(a) - measure(b), a.clusters)


def _compared(differences: NDArray[np.float64], clusters: Clusters) -> Delta:
    """`differences` are in the order of the items' ids."""
    from judge_r1.statistics.significance import flip_ci, sign_flips

    test = sign_flips(differences, clusters)
    interval = flip_ci(differences, clusters, test)
    return Delta(n=len(differences), cases=test.clusters, delta=test.difference, ci95=list(interval), p=test.p)


def _ci(results: ResultTable, measure: Measure) -> list[float]:
    return list(clustered_mean_ci(measure(results), results.clusters))


def _score(results: ResultTable) -> NDArray[np.float64]:
    return results["score"]
