"""Score saved games again without a model: with another parser, another rule for several games, another reward.

Labels come from the benchmark as it is read now; games come from `traces.jsonl`, and nothing else of them changes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from judge_r1.benchmarks.aggregation import all_invalid
from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.items import AggregatedVerdict, Item, Vote
from judge_r1.core.records import Judgment, PairwiseVerdict, ReasoningPair, Trajectory, evidence_of
from judge_r1.episode.parsing import Rejected, parse_strict, parse_table6, parse_table6_tolerant, parse_tolerant
from judge_r1.episode.prompts import TABLE6
from judge_r1.episode.segments import answer_of
from judge_r1.evaluation.results import reward_as_shown
from judge_r1.evaluation.traces import EvaluationError, Results, Trace
from judge_r1.judges.request import CustomPrompt, JudgeRequest

Parser = Literal["strict", "tolerant"]
Rule = Literal["own", "first", "all"]
Reward = Literal["paper", "comparison", "labels"]
Parse = Callable[[str], Judgment | Rejected]

REWARDS: Mapping[Reward, Callable[[dict[str, float]], float]] = {
    "paper": lambda parts: (parts["R1"] + parts["R2"] + 3) / 6,
    "comparison": lambda parts: (parts["R1"] + 2) / 4,
    "labels": lambda parts: (parts["R2"] + 1) / 2,
}
"""From the parts of a breakdown to r in [0, 1]: the paper's sum, the comparison alone (Eq. 5), the labels alone (Eq.
8)."""


def with_rule(suite: LoadedBenchmark, rule: Rule) -> LoadedBenchmark:
    """`own`: as the benchmark settles an item; `first`: by its first game alone; `all`: right only where every game is,
    which of two orders is accuracy without any position bias."""
    if rule == "own":
        return suite
    settle = suite.aggregate

    def first(item: Item, games: Sequence[Vote]) -> AggregatedVerdict:
        return settle(item, games[:1])

    def every(item: Item, games: Sequence[Vote]) -> AggregatedVerdict:
        one = [settle(item, [game]) for game in games]
        if invalid := all_invalid(games):
            return AggregatedVerdict(verdict=invalid, score=0.0)
        agreed = all(settled.verdict == one[0].verdict for settled in one)
        verdict = one[0].verdict if agreed else PairwiseVerdict(winner="tie")
        return AggregatedVerdict(verdict=verdict, score=min(settled.score for settled in one))

    return replace(suite, aggregate=first if rule == "first" else every)


def replayed(
    row: str,
    traces: Sequence[Trace],
    suite: LoadedBenchmark,
    settings: Mapping[str, Any],
    *,
    parser: Parser | None = None,
    reward: Reward = "paper",
) -> Results:
    """The row's results, scored again. `settings` are those of its rows.json. Errors: EvaluationError for games of
    items that the suite does not hold, and for items without games."""
    items = {item.item_id: item for item in suite.items}
    games: dict[str, list[Trace]] = {item_id: [] for item_id in items}
    styles = [str(member.get("prompt")) for member in settings.get("members", [settings])]
    pairs = suite.pairs.by_id() if suite.pairs else {}
    for trace in traces:
        if trace.item_id not in items:
            raise EvaluationError(
                f"row {row!r} judged item {trace.item_id}, which the benchmark does not hold: give the files that it "
                "was run on"
            )
        item = items[trace.item_id]
        ask = JudgeRequest(item, trace.order, trace.sample, suite.task(item, trace.order))
        games[item.item_id].append(_again(trace, ask, styles[trace.member], parser, reward, pairs.get(item.item_id)))
    if missing := [item_id for item_id, found in games.items() if not found]:
        raise EvaluationError(f"row {row!r} has no game of item {missing[0]} and {len(missing) - 1} more")
    return Results(row, suite, games)


def _again(
    trace: Trace, ask: JudgeRequest, style: str, parser: Parser | None, reward: Reward, pair: ReasoningPair | None
) -> Trace:
    trajectory = trace.trajectory
    if not trajectory.turns:  # a judge that writes nothing, or a game that never began
        return trace
    if parser and not isinstance(ask.task, CustomPrompt):
        trajectory = parsed_again(trajectory, _parse(style, parser))
    verdict = ask.read(trajectory)
    if pair is not None:
        trajectory = reward_as_shown(trajectory, pair, trace.order)
        parts = dict(trajectory.reward or {})
        trajectory = trajectory.model_copy(update={"reward": parts | {"r": REWARDS[reward](parts)}})
    return trace.model_copy(update={"trajectory": trajectory, "verdict": verdict})


def parsed_again(trajectory: Trajectory, parse: Parse) -> Trajectory:
    """The trajectory as it would have ended under another parser. Only an episode that ended in an answer, read or
    rejected, has a text to parse; any other ends as it did."""
    if trajectory.ended != "answer" and not trajectory.ended.startswith("rejected_"):
        return trajectory
    written = trajectory.turns[-1].text
    tagged = answer_of(written)
    found = parse(written if tagged is None else tagged)
    if isinstance(found, Rejected):
        return trajectory.model_copy(update={"judgment": None, "ended": f"rejected_{found.reason}"})
    before = trajectory.judgment
    same = before is not None and before.comparison == found.comparison
    judgment = found.model_copy(
        update={
            "evidence": evidence_of(trajectory.turns),
            "confidence": before.confidence if same and before is not None else None,
        }
    )
    return trajectory.model_copy(update={"judgment": judgment, "ended": "answer"})


def _parse(style: str, parser: Parser) -> Parse:
    if style == TABLE6:
        return parse_table6 if parser == "strict" else parse_table6_tolerant
    return parse_strict if parser == "strict" else parse_tolerant
