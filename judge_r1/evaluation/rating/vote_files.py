"""Reads the votes to rate: evaluation folders, tables of votes, and RankJudge's published matches.

A table (.jsonl, .json, .csv or .parquet) has the columns `judge`, `item` and `score` (0 to 1; empty or null for an
invalid answer), and optionally `cluster`, `group` and `tokens` (written by the judge). RankJudge's matches.json is
recognized by its columns `model` and `judge`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from judge_r1.core.errors import JudgeError
from judge_r1.core.tabular import Row, file_rows
from judge_r1.evaluation.rating.cost import written_tokens
from judge_r1.evaluation.results import OUTCOMES, read_outcomes
from judge_r1.statistics.rating.votes import VoteTable, vote_table

OnInvalid = Literal["incorrect", "drop"]
GROUP = "group"
MOST_TOKENS = 1e9
"""More tokens for one item are a typing error."""


class RatedVote(NamedTuple):
    """One answer. `score` is None for an invalid one; `labels` describe the item, such as its group."""

    judge: str
    item: str
    score: float | None
    cluster: str
    labels: dict[str, str]
    tokens: float | None = None


@dataclass
class Votes:
    """Votes with the clusters and labels of the items, and each judge's counts of answers and invalid answers."""

    votes: list[tuple[str, str, float]] = field(default_factory=list)
    clusters: dict[str, str] = field(default_factory=dict)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)
    invalid: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, list[float]] = field(default_factory=dict)

    def table(self) -> VoteTable:
        return vote_table(self.votes, self.clusters)

    def by_label(self, label: str) -> dict[str, list[str]]:
        """The items with each value of a label, in the order of the values."""
        values = sorted({found[label] for found in self.labels.values() if label in found})
        return {value: [item for item, found in self.labels.items() if found.get(label) == value] for value in values}


def read_votes(paths: Sequence[Path], *, on_invalid: OnInvalid = "incorrect", compat: bool = False) -> Votes:
    """All votes of the paths. An invalid answer is incorrect, or left out with `drop`. The same vote in two paths, such
    as that of a benchmark's baseline, counts once.

    `compat` reads published matches like their public code: a match without a round or a type counts by what is left.

    Raises:
        JudgeError: A path holds no votes, two paths hold different votes of one judge on one item, or an item has two
            clusters.
    """
    found = Votes()
    origin: dict[tuple[str, str], tuple[Path, float | None]] = {}
    for source in (source for path in paths for source in _sources(path)):
        for vote in _votes_of(source, compat):
            before, score = origin.setdefault((vote.judge, vote.item), (source, vote.score))
            if before == source:
                _add(found, vote, source, on_invalid)
            elif score != vote.score:
                raise JudgeError(
                    f"{source} holds another vote of judge {vote.judge!r} on item {vote.item!r} than {before}: give "
                    "the judges different names, or leave one of the two out"
                )
    if not found.votes:
        raise JudgeError(f"{', '.join(map(str, paths))}: no vote to rate")
    return found


def _add(found: Votes, vote: RatedVote, path: Path, on_invalid: OnInvalid) -> None:
    if found.clusters.setdefault(vote.item, vote.cluster) != vote.cluster:
        both = f"{found.clusters[vote.item]!r} and {vote.cluster!r}"
        raise JudgeError(f"{path}: item {vote.item!r} has two clusters, {both}")
    found.labels.setdefault(vote.item, {}).update(vote.labels)
    found.answers[vote.judge] += 1
    if vote.tokens is not None:
        found.tokens.setdefault(vote.judge, []).append(vote.tokens)
    if vote.score is None:
        found.invalid[vote.judge] += 1
        if on_invalid == "drop":
            return
    found.votes.append((vote.judge, vote.item, vote.score or 0.0))


def _sources(path: Path) -> list[Path]:
    """The path itself if it is a table or an evaluation, else the evaluations in it."""
    if path.is_file() or (path / OUTCOMES).exists():
        return [path]
    if folders := sorted(file.parent for file in path.glob(f"*/{OUTCOMES}")):
        return folders
    raise JudgeError(f"{path} holds no {OUTCOMES}: give a folder of `judge-r1 eval`, or a table of votes")


def _votes_of(path: Path, compat: bool) -> Iterator[RatedVote]:
    if path.is_file():
        yield from _table_votes(path, compat)
        return
    tokens = written_tokens(path)
    for judge, results in read_outcomes(path).items():
        for result in results:
            labels = {GROUP: result.group, **_text_fields(result.gold)}
            score = result.score if result.valid else None
            written = tokens.get((judge, result.item_id))
            yield RatedVote(judge, result.item_id, score, result.cluster_id, labels, written)


def _text_fields(gold: Any) -> dict[str, str]:
    """The labels in a gold that is a mapping, such as the failure type of a pair of conversations."""
    return {str(k): v for k, v in gold.items() if isinstance(v, str)} if isinstance(gold, dict) else {}


def _table_votes(path: Path, compat: bool) -> Iterable[RatedVote]:
    for row in file_rows(path):
        if isinstance(row.values.get("model"), dict) and isinstance(row.values.get("judge"), dict):
            yield _match(row, compat)
            continue
        item = row.name("item")
        cluster = row.name("cluster") if row.values.get("cluster") else item
        labels = {GROUP: row.name(GROUP)} if row.values.get(GROUP) else {}
        tokens = _number(row, "tokens", MOST_TOKENS) if "tokens" in row.values else None
        yield RatedVote(row.name("judge"), item, _number(row, "score", 1), cluster, labels, tokens)


def _number(row: Row, name: str, most: float) -> float | None:
    """The number from 0 to `most` in a column; None if it is empty."""
    value = row.value(name)
    return None if value in (None, "") else row.bounded(name, value, most)


def _match(row: Row, compat: bool) -> RatedVote:
    """A published match. Strictly, a missing round or type is wrong and a missing verdict invalid."""
    judge, pair = row.values["judge"], row.values.get("pair")
    parts = [judge.get(f"correct_{part}") for part in ("verdict", "bad_round", "behavior_type")]
    if compat:
        score = None if judge.get("correct") is None else float(bool(judge["correct"]))
    else:
        score = None if parts[0] is None else float(all(parts))
    name = row.values["model"].get("name")
    if not isinstance(name, str) or not name:
        raise row.error("model", "must name the judge in its field name")
    labels = _text_fields(pair)
    if isinstance(row.values.get("domain"), str):
        labels[GROUP] = row.values["domain"]
    usage = row.values.get("usage")
    tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
    written = float(tokens) if isinstance(tokens, int | float) else None
    return RatedVote(name, row.name("id"), score, row.name("id"), labels, written)
