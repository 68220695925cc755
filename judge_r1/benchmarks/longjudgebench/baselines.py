"""Baselines that need no judge: constant answers, presentation order, output length, and single annotators.

Each baseline is computed from the files, on the queries that have the data it needs.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from judge_r1.benchmarks.base import Order
from judge_r1.benchmarks.longjudgebench.aggregation import aggregate
from judge_r1.benchmarks.longjudgebench.query import Query, item_of
from judge_r1.benchmarks.longjudgebench.requests import orders_of
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.benchmarks.pairwise import vote_of
from judge_r1.core.items import Item, ItemResult, Vote, item_result
from judge_r1.core.verdicts import PairwiseVerdict, ScoresVerdict, Verdict

Rule = Callable[[Query, Order], Verdict | None]
"""The verdict of a baseline on a query in a presentation order; None if the files lack the data it needs."""
DR_ORDER = ("openai-deepresearch", "gemini-2.5-pro-deepresearch", "perplexity-Research", "grok-deeper-search")
FITTED = "(fitted on gold)"
"""Marks baselines that were chosen by looking at the gold. They are upper bounds, and no judge could know them."""
END = 300
ONE_ANNOTATOR = "one annotator, vs the others"
ANNOTATOR = "/annotator-"
"""Separates the query id from the annotator's index in item ids of single-annotator results."""
_BOXED = re.compile(r"\\boxed\s*\{")


def baseline_results(queries: Sequence[Query], options: SubsetOptions) -> dict[str, list[ItemResult]]:
    """The results of each baseline for the queries of one column. Baselines without results are dropped."""
    baselines: dict[str, list[ItemResult]] = defaultdict(list)
    rules = _rules(queries) if queries else {}
    for query in queries:
        item, orders = item_of(query, reference=options.reference), orders_of(query, options)
        for name, rule in rules.items():
            verdicts = [(order, rule(query, order)) for order in orders]
            votes = [vote_of(order, verdict) for order, verdict in verdicts if verdict is not None]
            if len(votes) == len(verdicts):
                baselines[name].append(_result(name, item, votes))
        if annotated := _annotators(query, item):
            baselines[ONE_ANNOTATOR] += annotated
    return {name: baselines[name] for name in (*rules, ONE_ANNOTATOR) if name in baselines}


def _result(name: str, item: Item, votes: Sequence[Vote]) -> ItemResult:
    return item_result(name, item, votes, aggregate(item, votes))


def _annotators(query: Query, item: Item) -> list[ItemResult]:
    """One result per annotator: the annotator's overall scores, with the mean of the others as gold."""
    results = []
    for index, own in enumerate(query.annotators):
        others = [scores for position, scores in enumerate(query.annotators) if position != index]
        gold = [round(sum(column) / len(column), 9) for column in zip(*others, strict=True)]
        if len(set(gold)) > 1:
            item_id = f"{query.item_id}{ANNOTATOR}{index}"
            alone = item.model_copy(update={"item_id": item_id, "gold": {**item.gold, "scores": gold}})
            votes = [vote_of((position,), ScoresVerdict(scores=(score,))) for position, score in enumerate(own)]
            results.append(_result(ONE_ANNOTATOR, alone, votes))
    return results


def _rules(queries: Sequence[Query]) -> Mapping[str, Rule]:
    column, protocol = queries[0].column, queries[0].protocol
    if column == "Verify":
        return {
            "always No": lambda query, order: _yes(False),
            r"last \boxed as in the reference": _boxed,
            f"reference in the last {END} characters": _ending,
        }
    if protocol == "pairwise":
        rules: dict[str, Rule] = {"always first": lambda query, order: PairwiseVerdict(winner="A"), "longer": _longer}
        if column == "MA":
            best = _best_systems(queries)
            rules["always tie"] = lambda query, order: PairwiseVerdict(winner="tie")
            rules[f"best system of each pair {FITTED}"] = lambda query, order: _prefer(best[query.systems], order)
        return rules
    rules = {"longest": lambda query, order: _scores(_lengths(query), order)}
    if column == "DR":
        rules[f"fixed order of systems {FITTED}"] = lambda query, order: _scores(
            [-float(DR_ORDER.index(system)) if system in DR_ORDER else -9.0 for system in query.systems], order
        )
    elif protocol == "listwise":
        rules["as the files present them"] = lambda query, order: _scores(
            [-float(index) for index in range(len(query.systems))], order
        )
    return rules


def _yes(says: bool) -> Verdict:
    return ScoresVerdict(scores=(float(says),))


def _prefer(index: int | None, order: Order) -> Verdict:
    return PairwiseVerdict(winner="tie" if index is None else "A" if order[0] == index else "B")


def _scores(scores: Sequence[float] | None, order: Order) -> Verdict | None:
    return None if scores is None else ScoresVerdict(scores=tuple(scores[index] for index in order))


def _longer(query: Query, order: Order) -> Verdict | None:
    lengths = _lengths(query)
    if lengths is None:
        return None
    return _prefer(None if lengths[0] == lengths[1] else int(lengths[1] > lengths[0]), order)


def _lengths(query: Query) -> list[float] | None:
    """In characters. None if a text is missing."""
    lengths = [float(len(text)) for text in query.texts if text is not None]
    return lengths if len(lengths) == len(query.texts) else None


def _best_systems(queries: Sequence[Query]) -> dict[tuple[str, ...], int]:
    """For each pair of systems, the index of the one preferred more often: an upper bound for any fixed order."""
    golds: dict[tuple[str, ...], list[str | tuple[float, ...]]] = defaultdict(list)
    for query in queries:
        golds[query.systems].append(query.gold)
    return {systems: int(found.count("B") > found.count("A")) for systems, found in golds.items()}


def _boxed(query: Query, order: Order) -> Verdict | None:
    r"""Yes if the last \boxed{} equals the one in the reference, or the whole reference if that has none."""
    text, reference = query.texts[0], query.reference
    if text is None or reference is None:
        return None
    answer = last_boxed(text)
    return _yes(answer is not None and _plain(answer) == _plain(last_boxed(reference) or reference))


def _ending(query: Query, order: Order) -> Verdict | None:
    text, reference = query.texts[0], query.reference
    return None if text is None or reference is None else _yes(reference.strip() in text[-END:])


def last_boxed(text: str) -> str | None:
    r"""The content of the last \boxed{} with balanced braces."""
    for match in reversed(list(_BOXED.finditer(text))):
        depth = 1
        for position in range(match.end(), len(text)):
            depth += {"{": 1, "}": -1}.get(text[position], 0)
            if depth == 0:
                return text[match.end() : position]
    return None


def _plain(answer: str) -> str:
    """Normalises an answer: removes case, white space, dollar signs, outer brackets and TeX layout commands."""
    bare = re.sub(r"\\(?:text|mathrm|left|right)|\\[,;! ]|[\s${}]", "", answer.replace(r"\dfrac", r"\frac"))
    return bare.strip("().").casefold()
