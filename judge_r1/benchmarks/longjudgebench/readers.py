"""What an answer says, set by set: the JSON that each prompt asks for, as a verdict on the outputs as shown."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judge_r1.benchmarks.base import Order
from judge_r1.benchmarks.longjudgebench import deep_research_bench, real_dr
from judge_r1.benchmarks.longjudgebench.answer_parsers import Unread, found_json, number, released_json, word
from judge_r1.benchmarks.longjudgebench.scope import Scope
from judge_r1.benchmarks.longjudgebench.subset import Criterion, Query, judged
from judge_r1.core.records import ChecklistVerdict, InvalidVerdict, PairwiseVerdict, ScoresVerdict, Verdict

Values = Mapping[str, Any]
LETTERS = "ABCD"


def reader(query: Query, scope: Scope, order: Order) -> Callable[[str], Verdict]:
    """How the answer to `query`, shown in that order, is read. Never raises: what cannot be read is invalid, with the
    reason that `answers` names."""

    def read(text: str) -> Verdict:
        try:
            values = released_json(text) if scope.paper else found_json(text, *_KEYS[query.column])
            return _READ[query.column](values, query, scope, order)
        except Unread as error:
            return InvalidVerdict(reason=str(error))

    return read


def _dr(values: Values, query: Query, scope: Scope, order: Order) -> Verdict:
    if not scope.rubric:
        return ScoresVerdict(scores=(number(values, "overall_score", 10),))
    weights = query.weights[order[0]]
    total = sum(
        weight * _dimension(values.get(name), query.criteria.get(name, ()), scope.paper)
        for name, weight in weights.items()
    )
    return ScoresVerdict(scores=(total / sum(weights.values()),))


def _dimension(listed: object, criteria: Sequence[Criterion], paper: bool) -> float:
    """The weighted mean of a dimension's scores. Scores are matched to criteria by their text; where
    that is not one to one, the mean is plain, as the release has it where the numbers differ. `paper` matches by place.
    """
    if not isinstance(listed, list) or not listed or not all(isinstance(entry, dict) for entry in listed):
        raise Unread("missing_field")
    scores = [number(entry, "target_score", 10) for entry in listed]
    if paper:
        matched = list(criteria) if len(criteria) == len(scores) else []
    else:
        matched = _matched([str(entry.get("criterion", "")) for entry in listed], criteria)
    if not matched:
        return sum(scores) / len(scores)
    named = zip(scores, matched, strict=True)
    return sum(score * found.weight for score, found in named) / sum(found.weight for found in matched)


def _matched(texts: Sequence[str], criteria: Sequence[Criterion]) -> list[Criterion]:
    """The criterion of each text; empty unless each text names one and each criterion is named once."""
    found: list[Criterion] = []
    for text in map(_plain, texts):
        fitting = [
            one
            for one in criteria
            if text and (text.startswith(_plain(one.name)) or _plain(f"{one.name}{one.explanation}").startswith(text))
        ]
        if len(fitting) != 1:
            return []
        found += fitting
    return found if len(found) == len(criteria) == len(set(found)) else []


def _plain(text: str) -> str:
    return re.sub(r"\[weight[^]]*\]|[\W_]+", "", text.casefold())


def _realdr(values: Values, query: Query, scope: Scope, order: Order) -> Verdict:
    if not scope.rubric:
        return ScoresVerdict(scores=(number(values, "overall_score", 10),))
    scores = [number(values, name, 10) for name in real_dr.DIMENSIONS]
    return ScoresVerdict(scores=(real_dr.weighted(scores, query.weights[order[0]]),))


def _surge(values: Values, query: Query, scope: Scope, order: Order) -> Verdict:
    """A score for each letter; those of the letters that are there, where some are missing."""
    key = "structural_score" if query.column == "Structure" else "content_score"
    places = judged(query, scope.reference)
    letters = [LETTERS[at] for at, place in enumerate(order) if place in places]
    given = {letter: values[letter] for letter in letters if letter in values}
    scores = {
        letter: number(entry if isinstance(entry, dict) else {key: entry}, key, 5) for letter, entry in given.items()
    }
    if not scores:
        raise Unread("missing_field")
    if len(scores) < len(letters):
        return ChecklistVerdict(scores=scores)
    return ScoresVerdict(scores=tuple(scores.values()))


def _wp(values: Values, query: Query, scope: Scope, order: Order) -> Verdict:
    return PairwiseVerdict.model_validate({"winner": word(values, "preferred_response", "A", "B")})


def _ma(values: Values, query: Query, scope: Scope, order: Order) -> Verdict:
    return PairwiseVerdict.model_validate({"winner": word(values, "preferred_insights_consistency", "A", "B", "tie")})


def _verify(values: Values, query: Query, scope: Scope, order: Order) -> Verdict:
    """1 for Yes. The score and the verdict must say the same; the release takes the score."""
    said = {1.0 if word(values, "verdict", "Yes", "No") == "Yes" else 0.0} if "verdict" in values else set()
    if "score" in values:
        score = number(values, "score", 1)
        if score not in (0, 1):
            raise Unread("bad_value")
        said = {score} if scope.paper else said | {score}
    if not said:
        raise Unread("missing_field")
    if len(said) > 1:
        raise Unread("contradiction")
    return ScoresVerdict(scores=(said.pop(),))


_READ: Mapping[str, Callable[[Values, Query, Scope, Order], Verdict]] = {
    "DR": _dr,
    "RealDR": _realdr,
    "Structure": _surge,
    "Content": _surge,
    "WP": _wp,
    "Verify": _verify,
    "MA": _ma,
}
_KEYS: Mapping[str, Sequence[str]] = {
    "DR": ("overall_score", *deep_research_bench.DIMENSIONS),
    "RealDR": ("overall_score", *real_dr.DIMENSIONS),
    "Structure": LETTERS,
    "Content": LETTERS,
    "WP": ("preferred_response",),
    "Verify": ("verdict", "score"),
    "MA": ("preferred_insights_consistency",),
}
