"""Baselines that need no judge: constant answers, presentation order, output length, and single annotators.

Each baseline is computed from the files, on the queries that have the data it needs.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from judge_r1.benchmarks.base import Order
from judge_r1.benchmarks.longjudgebench.aggregation import aggregate
from judge_r1.benchmarks.longjudgebench.query import Query, item_of, scored_indices
from judge_r1.benchmarks.longjudgebench.requests import orders_of
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.benchmarks.pairwise import vote_of
from judge_r1.core.items import ItemResult, item_result
from judge_r1.core.verdicts import PairwiseVerdict, ScoresVerdict, Verdict

Rule = Callable[[Query, Order], Verdict | None]
"""The verdict of a baseline on a query in a presentation order; None if the files lack the data it needs."""
DR_ORDER = ("openai-deepresearch", "gemini-2.5-pro-deepresearch", "perplexity-Research", "grok-deeper-search")
END = 300
ANNOTATOR = "/annotator-"
"""Separates the query id from the annotator's index in item ids of single-annotator results."""
_BOXED = re.compile(r"\\boxed\s*\{")


def baseline_results(queries: Sequence[Query], options: SubsetOptions) -> dict[str, list[ItemResult]]:
    """The results of each baseline for the queries of one column. Baselines without results are dropped."""
    if not queries:
        return {}
    baselines = {name: _apply_rule(name, rule, queries, options) for name, rule in _rules(queries).items()}
    baselines["one annotator, vs the others"] = _annotators(queries, options)
    return {name: results for name, results in baselines.items() if results}


def _apply_rule(name: str, rule: Rule, queries: Sequence[Query], options: SubsetOptions) -> list[ItemResult]:
    results = []
    for query in queries:
        verdicts = [(order, rule(query, order)) for order in orders_of(query, options)]
        votes = [vote_of(order, verdict) for order, verdict in verdicts if verdict is not None]
        if len(votes) == len(verdicts):
            item = item_of(query, reference=options.reference)
            results.append(item_result(name, item, votes, aggregate(item, votes)))
    return results


def _rules(queries: Sequence[Query]) -> Mapping[str, Rule]:
    column = queries[0].column
    if column == "Verify":
        return {
            "always No": lambda query, order: _yes(False),
            r"last \boxed as in the reference": _boxed,
            f"reference in the last {END} characters": _ending,
        }
    if column in ("WP", "MA"):
        rules: dict[str, Rule] = {
            "always first": lambda query, order: PairwiseVerdict(winner="A"),
            "longer": _longer,
        }
        if column == "MA":
            best = _best_systems(queries)
            rules["always tie"] = lambda query, order: PairwiseVerdict(winner="tie")
            rules["best system of each pair"] = lambda query, order: _prefer(best[query.systems], order)
        return rules
    rules = {"longest": _scores(_lengths)}
    if column == "DR":
        rules["fixed order of systems"] = _scores(
            lambda query: [-float(DR_ORDER.index(s)) if s in DR_ORDER else -9.0 for s in query.systems]
        )
    elif column in ("Structure", "Content"):
        rules["as the files present them"] = _scores(
            lambda query: [-float(index) for index in range(len(query.systems))]
        )
    return rules


def _yes(says: bool) -> Verdict:
    return ScoresVerdict(scores=(float(says),))


def _prefer(index: int | None, order: Order) -> Verdict:
    return PairwiseVerdict(winner="tie" if index is None else "A" if order[0] == index else "B")


def _longer(query: Query, order: Order) -> Verdict | None:
    lengths = _lengths(query)
    if lengths is None:
        return None
    return _prefer(None if lengths[0] == lengths[1] else int(lengths[1] > lengths[0]), order)


def _lengths(query: Query) -> list[float] | None:
    """In characters."""
    if any(text is None for text in query.texts):
        return None
    return [float(len(text or "")) for text in query.texts]


def _scores(score_outputs: Callable[[Query], list[float] | None]) -> Rule:
    def rule(query: Query, order: Order) -> Verdict | None:
        scores = score_outputs(query)
        if scores is None:
            return None
        shown = [
            index for index in order if len(order) == 1 or index in scored_indices(query, reference=len(order) < 4)
        ]
        return ScoresVerdict(scores=tuple(scores[index] for index in shown))

    return rule


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


def _annotators(queries: Sequence[Query], options: SubsetOptions) -> list[ItemResult]:
    """One result per query and annotator: the annotator's overall scores, with the mean of the others as gold."""
    results = []
    for query in queries:
        item = item_of(query, reference=options.reference)
        for index, own in enumerate(query.annotators):
            others = [scores for position, scores in enumerate(query.annotators) if position != index]
            gold = [round(sum(column) / len(column), 9) for column in zip(*others, strict=True)]
            if len(set(gold)) > 1:
                named = f"{query.item_id}{ANNOTATOR}{index}"
                alone = item.model_copy(update={"item_id": named, "gold": {**item.gold, "scores": gold}})
                votes = [vote_of((position,), ScoresVerdict(scores=(score,))) for position, score in enumerate(own)]
                results.append(item_result("one annotator, vs the others", alone, votes, aggregate(alone, votes)))
    return results
