"""The agreement of checklist scores with gold: of people, or of another judge."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from judge_r1.benchmarks.base import Table, Tables
from judge_r1.core.items import ItemResult
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict

GOLD_CORRELATION = "Spearman correlation with gold scores"
HUMAN_CORRELATION = "Spearman correlation with human scores"
LEAST = 3
"""Texts that a correlation needs."""
Pairs = Sequence[tuple[float, float]]


def valid_results(results: Sequence[ItemResult]) -> list[ItemResult]:
    """The results with scores; HelloBench leaves the others out of S."""
    return [result for result in results if not isinstance(result.verdict, InvalidVerdict)]


def item_scores(result: ItemResult) -> list[float] | None:
    return list(result.verdict.scores.values()) if isinstance(result.verdict, ChecklistVerdict) else None


def gold_scores(result: ItemResult) -> list[float] | None:
    return (result.gold.get("scores") or None) if isinstance(result.gold, Mapping) else None


def agreement(results: Sequence[ItemResult], checklist_of: Callable[[str], str]) -> dict[str, float | None]:
    """Of the item scores with the gold's, over all questions: the share that is equal, the mean absolute error, and the
    quadratically weighted kappa. Empty without gold item scores.

    `constant exact` and `constant MAE` are those of the most frequent and of the mean gold score of each question,
    known from the same gold: a useful judge is better than both. `checklist_of` names the checklist of an item.
    """
    slots: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for result in results:
        if (own := item_scores(result)) and (gold := gold_scores(result)):
            for number, pair in enumerate(zip(own, gold, strict=True)):
                slots.setdefault((checklist_of(result.item_id), number), []).append(pair)
    pairs = [pair for found in slots.values() for pair in found]
    if not pairs:
        return {}
    constant_exact, constant_error = constant_agreement([[gold for _, gold in found] for found in slots.values()])
    return {
        "exact": fmean(abs(own - gold) < 1e-9 for own, gold in pairs),
        "MAE": fmean(abs(own - gold) for own, gold in pairs),
        "kappa": quadratic_kappa(pairs),
        "constant exact": constant_exact,
        "constant MAE": constant_error,
    }


def citations(results: Sequence[ItemResult]) -> dict[str, float]:
    """`cited`: the share of the answers that name a passage of the text. Empty if none does, as for judges that do not
    search."""
    verdicts = [result.verdict for result in results if isinstance(result.verdict, ChecklistVerdict)]
    named = sum(len(verdict.cited) for verdict in verdicts)
    return {"cited": named / sum(len(verdict.scores) for verdict in verdicts)} if named else {}


def constant_agreement(questions: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The agreement of constant answers with the gold scores of each question: the share that the most frequent score
    gets right, and the mean absolute error of the mean score."""
    total = sum(map(len, questions))
    exact = sum(Counter(gold).most_common(1)[0][1] for gold in questions) / total
    means = [fmean(gold) for gold in questions]
    return exact, sum(abs(one - mean) for gold, mean in zip(questions, means, strict=True) for one in gold) / total


def gold_correlation(
    results: Sequence[ItemResult],
    weighted: Callable[[str, Sequence[float]], float],
    system_of: Callable[[str], str],
) -> Table:
    """Spearman's rho of the weighted scores with those of the gold, with its interval over clusters, and Kendall's tau
    of the systems' mean scores. Empty for fewer than three texts. `weighted` scores the answers to an item."""
    from judge_r1.statistics.correlation import correlation_table, kendall

    rated = [(result, gold) for result in results if item_scores(result) and (gold := gold_scores(result))]
    if len(rated) < LEAST:
        return {}
    own = [result.score for result, _ in rated]
    other = [weighted(result.item_id, gold) for result, gold in rated]
    table = correlation_table({"judge": own}, other, [result.cluster_id for result, _ in rated])
    systems: dict[str, list[tuple[float, float]]] = {}
    for (result, _), pair in zip(rated, zip(own, other, strict=True), strict=True):
        systems.setdefault(system_of(result.item_id), []).append(pair)
    sides = [[fmean(pair[side] for pair in pairs) for pairs in systems.values()] for side in (0, 1)]
    keep = {name: table["judge"][name] for name in ("rho", "low", "high", "n")}
    return {"judge": {**keep, "systems": len(systems), "tau of systems": kendall(*sides)}}


def human_correlation(
    judges: Mapping[str, Sequence[ItemResult]],
    metrics: Callable[[Mapping[str, Sequence[ItemResult]]], Mapping[str, Sequence[float]]] = lambda rated: {},
) -> Tables:
    """Spearman's rho of each judge's scores, and of further `metrics`, with people's overall scores, all on the texts
    that people scored and to which every judge gave a valid verdict.

    A judge with fewer than three such texts of its own is left out, and so is a metric without a value for each text:
    their rows have only `n`, the number of texts with a value.
    """
    from judge_r1.statistics.correlation import correlation_table

    human = {r.item_id: r.gold["overall"] for own in judges.values() for r in own if r.gold["overall"] is not None}
    rated = {name: {r.item_id: r for r in valid_results(own) if r.item_id in human} for name, own in judges.items()}
    compared = {name: own for name, own in rated.items() if len(own) >= LEAST}
    shared = [key for key in human if all(key in own for own in compared.values())] if compared else []
    same = {name: [own[key] for key in shared] for name, own in compared.items()}
    values = {name: [result.score for result in own] for name, own in same.items()} | dict(metrics(same))
    table: Table = {name: {"rho": None, "n": len(own)} for name, own in rated.items()}
    table |= {name: {"rho": None, "n": len(own)} for name, own in values.items() if name not in table}
    whole = {name: own for name, own in values.items() if len(own) == len(shared) >= LEAST}
    if whole:
        clusters = [result.cluster_id for result in next(iter(same.values()))]
        table |= correlation_table(whole, [float(human[key]) for key in shared], clusters)
    return {HUMAN_CORRELATION: table}


def quadratic_kappa(pairs: Pairs) -> float | None:
    """1 - Σ(a-b)²/E[Σ(a-b)²] with independent raters of the same distributions (Cohen, 1968); None if both are
    constant and equal."""
    own, gold = zip(*pairs, strict=True)
    mean_own, mean_gold = fmean(own), fmean(gold)
    chance = fmean(a * a for a in own) + fmean(b * b for b in gold) - 2 * mean_own * mean_gold
    observed = fmean((a - b) ** 2 for a, b in pairs)
    return None if chance == 0 else 1 - observed / chance
