"""Rows that need no judge: what constants, places, lengths and people reach.

A judge that does not beat them has shown nothing. They are read off the files, each on the queries it can be read on.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from judge_r1.benchmarks.base import Order
from judge_r1.benchmarks.longjudgebench.aggregation import aggregate
from judge_r1.benchmarks.longjudgebench.query import Query, item_of, judged
from judge_r1.benchmarks.longjudgebench.requests import orders_of
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.benchmarks.pairwise import vote_of
from judge_r1.core.items import ItemResult, item_result
from judge_r1.core.records import PairwiseVerdict, ScoresVerdict, Verdict

Say = Callable[[Query, Order], Verdict | None]
"""What a rule says of a query in an order; None where the files do not hold what it needs."""
DR_ORDER = ("openai-deepresearch", "gemini-2.5-pro-deepresearch", "perplexity-Research", "grok-deeper-search")
END = 300
ANNOTATOR = "/annotator-"
"""Between the query and the number of the annotator, where one is scored as a judge."""
_BOXED = re.compile(r"\\boxed\s*\{")


def baseline_rows(queries: Sequence[Query], options: SubsetOptions) -> dict[str, list[ItemResult]]:
    """By name, the rows of one column, without those that nothing can be said for."""
    if not queries:
        return {}
    rows = {name: _row(name, say, queries, options) for name, say in _rules(queries).items()}
    rows["one annotator, vs the others"] = _annotators(queries, options)
    return {name: row for name, row in rows.items() if row}


def _row(name: str, say: Say, queries: Sequence[Query], options: SubsetOptions) -> list[ItemResult]:
    outcomes = []
    for query in queries:
        verdicts = [(order, say(query, order)) for order in orders_of(query, options)]
        games = [vote_of(order, verdict) for order, verdict in verdicts if verdict is not None]
        if len(games) == len(verdicts):
            item = item_of(query, reference=options.reference)
            outcomes.append(item_result(name, item, games, aggregate(item, games)))
    return outcomes


def _rules(queries: Sequence[Query]) -> Mapping[str, Say]:
    column = queries[0].column
    if column == "Verify":
        return {
            "always No": lambda query, order: _yes(False),
            r"last \boxed as in the reference": _boxed,
            f"reference in the last {END} characters": _ending,
        }
    if column in ("WP", "MA"):
        rules: dict[str, Say] = {
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
            lambda query: [-float(place) for place in range(len(query.systems))]
        )
    return rules


def _yes(says: bool) -> Verdict:
    return ScoresVerdict(scores=(float(says),))


def _prefer(place: int | None, order: Order) -> Verdict:
    return PairwiseVerdict(winner="tie" if place is None else "A" if order[0] == place else "B")


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


def _scores(rule: Callable[[Query], list[float] | None]) -> Say:
    def say(query: Query, order: Order) -> Verdict | None:
        scores = rule(query)
        if scores is None:
            return None
        shown = [place for place in order if len(order) == 1 or place in judged(query, reference=len(order) < 4)]
        return ScoresVerdict(scores=tuple(scores[place] for place in shown))

    return say


def _best_systems(queries: Sequence[Query]) -> dict[tuple[str, ...], int]:
    """For each pair of systems the one that people prefer more often: an upper bound of every fixed order."""
    golds: dict[tuple[str, ...], list[str | tuple[float, ...]]] = defaultdict(list)
    for query in queries:
        golds[query.systems].append(query.gold)
    return {systems: int(found.count("B") > found.count("A")) for systems, found in golds.items()}


def _boxed(query: Query, order: Order) -> Verdict | None:
    r"""Yes where the last \boxed{} holds what the reference's does, or the reference where it boxes nothing."""
    text, reference = query.texts[0], query.reference
    if text is None or reference is None:
        return None
    answer = last_boxed(text)
    return _yes(answer is not None and _plain(answer) == _plain(last_boxed(reference) or reference))


def _ending(query: Query, order: Order) -> Verdict | None:
    text, reference = query.texts[0], query.reference
    return None if text is None or reference is None else _yes(reference.strip() in text[-END:])


def last_boxed(text: str) -> str | None:
    r"""What stands between the brackets of the last \boxed{} whose brackets close."""
    for match in reversed(list(_BOXED.finditer(text))):
        depth = 1
        for at in range(match.end(), len(text)):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            if depth == 0:
                return text[match.end() : at]
    return None


def _plain(answer: str) -> str:
    """Without case, white space, dollar signs, brackets around all of it, and what TeX needs for looks alone."""
    bare = re.sub(r"\\(?:text|mathrm|left|right)|\\[,;! ]|[\s${}]", "", answer.replace(r"\dfrac", r"\frac"))
    return bare.strip("().").casefold()


def _annotators(queries: Sequence[Query], options: SubsetOptions) -> list[ItemResult]:
    """Each annotator's overall scores as a judge's, with the mean of the others' as gold; one outcome for each."""
    outcomes = []
    for query in queries:
        item = item_of(query, reference=options.reference)
        for place, own in enumerate(query.annotators):
            others = [scores for at, scores in enumerate(query.annotators) if at != place]
            gold = [round(sum(column) / len(column), 9) for column in zip(*others, strict=True)]
            if len(set(gold)) > 1:
                named = f"{query.item_id}{ANNOTATOR}{place}"
                alone = item.model_copy(update={"item_id": named, "gold": {**item.gold, "scores": gold}})
                games = [vote_of((at,), ScoresVerdict(scores=(score,))) for at, score in enumerate(own)]
                outcomes.append(item_result("one annotator, vs the others", alone, games, aggregate(alone, games)))
    return outcomes
