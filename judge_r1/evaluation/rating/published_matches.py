"""Reads RankJudge's published matches, one (pair, judge) each."""

from collections import Counter
from collections.abc import Mapping

from judge_r1.core.conversation_types import failure_type
from judge_r1.evaluation.rating.rated_vote import GROUP, Criterion, RatedVote, text_fields
from judge_r1.files.tabular import Row

_PARTS = ("correct_verdict", "correct_bad_round", "correct_behavior_type")
_NEEDED: Mapping[Criterion, int] = {"side": 1, "side+round": 2, "score": 3}
"""How many of the parts a criterion needs."""


def is_match(row: Row) -> bool:
    """Whether a row of a table is a published match."""
    return isinstance(row.values.get("model"), dict) and isinstance(row.values.get("judge"), dict)


def match_vote(row: Row, compat: bool, criterion: Criterion) -> RatedVote:
    """A match as a vote. A missing round or type is wrong and a missing verdict invalid. `compat` takes the verdict of
    the public code, which leaves a missing round or type out."""
    judge, pair = row.values["judge"], row.values.get("pair")
    parts = [judge.get(part) for part in _PARTS[: _NEEDED[criterion]]]
    score = None if parts[0] is None else float(all(parts))
    if compat and criterion == "score":
        score = None if judge.get("correct") is None else float(bool(judge["correct"]))
    name = row.values["model"].get("name")
    if not isinstance(name, str) or not name:
        raise row.error("model", "must name the judge in its field name")
    labels = text_fields(pair)
    if isinstance(row.values.get("domain"), str):
        labels[GROUP] = row.values["domain"]
    usage = row.values.get("usage")
    tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
    written = float(tokens) if isinstance(tokens, int | float) else None
    gold, predicted = (failure_type(str(judge.get(f"behavior_type_{side}"))) for side in ("gt", "pred"))
    types = Counter([(gold.key, predicted.key)] if gold and predicted else [])
    return RatedVote(name, row.name("id"), score, row.name("id"), labels, written, types)
