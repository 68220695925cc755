"""Reads the votes to rate: evaluation folders, tables of votes, and RankJudge's published matches.

A table (.jsonl, .json, .csv or .parquet) has the columns `judge`, `item` and `score` (0 to 1; empty or null for an
invalid answer), and optionally `cluster`, `group`, `tokens` (written by the judge) and `input_tokens` (read by it).
RankJudge's matches.json is recognized by its columns `model` and `judge`. In a log of Inspect (.eval) the judge is its
model, and the score that of its scorer.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from judge_r1.benchmarks.rankjudge.scoring import criterion_score, named_types
from judge_r1.core.conversations import failure_type
from judge_r1.core.errors import JudgeError
from judge_r1.core.folders import lacks, name_below
from judge_r1.core.items import ItemResult
from judge_r1.core.text_check import check_spelling
from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.inspect_logs import SUFFIX, Notes, mean_of_epochs, one_scorer
from judge_r1.evaluation.rating.cost import used_tokens
from judge_r1.evaluation.rating.records import GROUP, Criterion, RatedVote, text_fields
from judge_r1.evaluation.results import read_outcomes
from judge_r1.files.evaluation_files import OUTCOMES, SUMMARY
from judge_r1.files.tabular import Row, file_rows
from judge_r1.statistics.rating.votes import VoteTable, vote_table

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
    read = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    read = float(read) if isinstance(read, int | float) else None
    return RatedVote(name, row.name("id"), score, row.name("id"), labels, written, types, read)


OnInvalid = Literal["incorrect", "drop"]
MOST_TOKENS = 1e9
"""More tokens for one item are a typing error."""


@dataclass
class Votes:
    """Votes with the clusters and labels of the items, and each judge's counts of answers, invalid answers and types.
    `criterion` says what a vote had to get right, `repeated` how many votes a path holds again, and `notes` what
    is left out of logs."""

    votes: list[tuple[str, str, float]] = field(default_factory=list)
    clusters: dict[str, str] = field(default_factory=dict)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)
    invalid: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, list[float]] = field(default_factory=dict)
    read: dict[str, list[float]] = field(default_factory=dict)
    types: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    criterion: Criterion = "score"
    repeated: Counter[Path] = field(default_factory=Counter)
    notes: Notes = field(default_factory=Notes)

    def table(self) -> VoteTable:
        return vote_table(self.votes, self.clusters)

    def by_label(self, label: str) -> dict[str, list[str]]:
        """The items with each value of a label, in the order of the values."""
        values = sorted({found[label] for found in self.labels.values() if label in found})
        return {value: [item for item, found in self.labels.items() if found.get(label) == value] for value in values}


def read_votes(
    paths: Sequence[Path],
    *,
    on_invalid: OnInvalid = "incorrect",
    compat: bool = False,
    criterion: Criterion = "score",
    scorer: str | None = None,
) -> Votes:
    """All votes of the paths. An invalid answer is incorrect, or left out with `drop`. The same vote in two paths, such
    as that of a benchmark's baseline, or twice in one counts once.

    `compat` reads published matches like their public code: a match without a round or a type counts by what is left.
    `scorer` chooses the scores of logs of Inspect.

    Raises:
        JudgeError: A path holds no votes, a judge has different votes on one item, an item has two clusters, the votes
            lack the parts that the criterion needs, or names differ in nothing but white space.
    """
    found = Votes(criterion=criterion)
    sources = [source for path in paths for source in _sources(path)]
    # A folder without a summary is refused when its outcomes are read.
    evaluations = [source for source in sources if (source / SUMMARY).exists()]
    for folder in evaluations:
        if (summary := read_summary(folder)).get("rates_texts"):
            raise JudgeError(
                f"{folder}: the scores of {summary['benchmark']} say how good texts are, so the most generous judge "
                "would win: `judge-r1 report` has its table of systems; rate judges that are right or wrong"
            )
    origin: dict[tuple[str, str], tuple[Path, float | None]] = {}
    for source in sources:
        for vote in _votes_of(source, compat, criterion, scorer, found.notes):
            key = vote.judge, vote.item
            if key not in origin:
                origin[key] = source, vote.score
                _add(found, vote, source, on_invalid)
                continue
            before, score = origin[key]
            if score != vote.score:
                raise JudgeError(
                    f"{source} holds another vote of judge {vote.judge!r} on item {vote.item!r} than "
                    f"{'before' if before == source else before}: give the judges different names, or leave one of the "
                    "two out"
                )
            _check_cluster(found, vote, source)
            if before == source:
                found.repeated[source] += 1
    check_spelling(found.answers, "judges")
    check_spelling(found.clusters, "items")
    if not found.votes:
        raise JudgeError(f"{', '.join(map(str, paths))}: no vote to rate")
    return found


def _add(found: Votes, vote: RatedVote, path: Path, on_invalid: OnInvalid) -> None:
    _check_cluster(found, vote, path)
    found.labels.setdefault(vote.item, {}).update(vote.labels)
    found.answers[vote.judge] += 1
    if vote.tokens is not None:
        found.tokens.setdefault(vote.judge, []).append(vote.tokens)
    if vote.read is not None:
        found.read.setdefault(vote.judge, []).append(vote.read)
    if vote.types:
        found.types.setdefault(vote.judge, Counter()).update(vote.types)
    if vote.score is None:
        found.invalid[vote.judge] += 1
        if on_invalid == "drop":
            return
    found.votes.append((vote.judge, vote.item, vote.score or 0.0))


def _check_cluster(found: Votes, vote: RatedVote, path: Path) -> None:
    if (cluster := found.clusters.setdefault(vote.item, vote.cluster)) != vote.cluster:
        raise JudgeError(
            f"{path}: item {vote.item!r} has two clusters, {cluster!r} and {vote.cluster!r}: give votes "
            "of one version of the benchmark"
        )


def _sources(path: Path) -> list[Path]:
    """The path itself if it is a file or an evaluation, else the evaluations or the logs of Inspect in it."""
    if path.is_file() or (path / OUTCOMES).exists():
        return [path]
    if folders := sorted(file.parent for file in path.glob(f"*/{OUTCOMES}")):
        return folders
    if logs := sorted(path.glob(f"*{SUFFIX}")):
        return logs
    raise JudgeError(
        f"{lacks(path, OUTCOMES)}: give a folder of `judge-r1 eval`, a table of votes, or a log of Inspect"
        f"{name_below(path, OUTCOMES)}"
    )


def _votes_of(path: Path, compat: bool, criterion: Criterion, scorer: str | None, notes: Notes) -> Iterator[RatedVote]:
    if path.suffix == SUFFIX:
        if criterion != "score":
            raise JudgeError(f"{path} is a log of Inspect, whose score has no parts: leave out --criterion")
        for one in mean_of_epochs(one_scorer(path, scorer, notes)):
            score = one.value if one.valid else None
            yield RatedVote(one.model, one.item, score, one.cluster, {GROUP: one.group}, one.tokens)
        return
    if path.is_file():
        yield from _table_votes(path, compat, criterion)
        return
    tokens = used_tokens(path)
    for judge, results in read_outcomes(path).items():
        for result in filter(lambda result: result.answered, results):
            labels = {GROUP: result.group, **text_fields(result.gold)}
            score = _score(result, path, criterion) if result.valid else None
            used = tokens.get((judge, result.item_id))
            written, read = used or (None, None)
            types = named_types([result]) if _is_located(result.gold) else Counter[tuple[str, str]]()
            yield RatedVote(judge, result.item_id, score, result.cluster_id, labels, written, types, read)


def _score(result: ItemResult, path: Path, criterion: Criterion) -> float:
    if criterion == "score":
        return result.score
    if not _is_located(result.gold):
        raise JudgeError(f"{path} holds no votes on conversations: leave out --criterion")
    try:
        return criterion_score(result, criterion)
    except ValueError as error:
        raise JudgeError(f"{path}: {error}: give --criterion side") from None


def _is_located(gold: Any) -> bool:
    """Whether a gold is that of a pair of conversations."""
    return isinstance(gold, dict) and {"better", "round", "failure"} <= gold.keys()


def _table_votes(path: Path, compat: bool, criterion: Criterion) -> Iterable[RatedVote]:
    for row in file_rows(path):
        if is_match(row):
            yield match_vote(row, compat, criterion)
            continue
        if criterion != "score":
            raise JudgeError(f"{path} is a table of votes, whose score has no parts: leave out --criterion")
        item = row.name("item")
        cluster = row.name("cluster") if row.values.get("cluster") else item
        labels = {GROUP: row.name(GROUP)} if row.values.get(GROUP) else {}
        tokens = _number(row, "tokens", MOST_TOKENS) if "tokens" in row.values else None
        read = _number(row, "input_tokens", MOST_TOKENS) if "input_tokens" in row.values else None
        yield RatedVote(row.name("judge"), item, _number(row, "score", 1), cluster, labels, tokens, read=read)


def _number(row: Row, name: str, most: float) -> float | None:
    """The number from 0 to `most` in a column; None if it is empty."""
    value = row.value(name)
    return None if value in (None, "") else row.bounded(name, value, most)
