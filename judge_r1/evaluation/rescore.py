"""Scores stored votes again without a model: with another parser, aggregation rule or reward.

Labels come from the benchmark as it is read now; everything else comes from `votes.jsonl` unchanged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from judge_r1.benchmarks.aggregation import all_invalid
from judge_r1.benchmarks.base import BENCHMARKS, LoadedBenchmark, files_of
from judge_r1.core.folders import lacks, name_below
from judge_r1.core.items import AggregatedVerdict, Item, Vote
from judge_r1.core.records import Trajectory, evidence_of
from judge_r1.core.text_check import counted
from judge_r1.core.verdicts import Judgment, PairwiseVerdict
from judge_r1.episode.answer_text import answer_of
from judge_r1.episode.parsing import Rejected, parse_strict, parse_table6, parse_table6_tolerant, parse_tolerant
from judge_r1.episode.prompts import TABLE6
from judge_r1.episode.reward import combine
from judge_r1.evaluation.folder import LRBENCH, read_started, read_summary
from judge_r1.evaluation.label_results import reward_as_shown
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.results import PanelResults
from judge_r1.evaluation.summary import EXCLUDED
from judge_r1.evaluation.votes import EvaluationError, StoredVote, StoredVotes, summarized_votes
from judge_r1.files.evaluation_files import ROWS, SUMMARY
from judge_r1.judges.request import CustomPrompt, JudgeRequest

Parser = Literal["strict", "tolerant"]
Rule = Literal["own", "first", "all"]
Reward = Literal["paper", "comparison", "labels"]
Parse = Callable[[str], Judgment | Rejected]

REWARDS: Mapping[Reward, Callable[[dict[str, float]], float]] = {
    "paper": lambda parts: combine(parts["R1"], parts["R2"]),
    "comparison": lambda parts: (parts["R1"] + 2) / 4,
    "labels": lambda parts: (parts["R2"] + 1) / 2,
}
"""Functions from the parts of a reward breakdown to r in [0, 1]: the paper's sum, only the comparison (Eq. 5), only the
labels (Eq. 8)."""


def with_rule(benchmark: LoadedBenchmark, rule: Rule) -> LoadedBenchmark:
    """The benchmark with another aggregation rule.

    own: the benchmark's rule; first: only the first vote of an item; all: right only if every vote is right, which for
    both orders is accuracy without position bias.
    """
    if rule == "own":
        return benchmark
    aggregate = benchmark.aggregate

    def first(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
        return aggregate(item, votes[:1])

    def every(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
        each = [aggregate(item, [vote]) for vote in votes]
        if invalid := all_invalid(votes):
            return AggregatedVerdict(verdict=invalid, score=0.0)
        agreed = all(one.verdict == each[0].verdict for one in each)
        verdict = each[0].verdict if agreed else PairwiseVerdict(winner="tie")
        return AggregatedVerdict(verdict=verdict, score=min(one.score for one in each))

    return replace(benchmark, aggregate=first if rule == "first" else every)


def rescore_evaluation(
    folder: Path,
    path: Path | None,
    out: Path,
    *,
    benchmark: str | None = None,
    subset: str | None = None,
    parser: Parser | None = None,
    rule: Rule = "own",
    reward: Reward = "paper",
) -> dict[str, Any]:
    """Scores every panel of the evaluation in `folder` again and writes a new one to `out`; returns its summary.

    `path` holds the benchmark's files, if they are not in the package. `benchmark` and `subset` default to those of the
    old summary. Baselines are computed again from the benchmark.

    Raises:
        EvaluationError: `folder` is no finished evaluation, `out` holds one, or the benchmark lacks a judged item.
    """
    if (out / SUMMARY).exists():
        raise EvaluationError(f"{out} already holds a summary: choose another --out")
    if not (folder / SUMMARY).exists():
        raise EvaluationError(
            f"{lacks(folder, SUMMARY)}: replay takes a folder that `eval` has finished{name_below(folder, SUMMARY)}"
        )
    before, started = read_summary(folder), read_started(folder)
    name = before.get("benchmark", LRBENCH) if benchmark is None else benchmark
    subset = before.get("subset") if subset is None else subset
    votes = summarized_votes(folder, before)
    judged = {item_id for found in votes.values() for item_id in found}
    path = files_of(name, path)
    loaded = with_rule(BENCHMARKS.get(name).load(path, subset), rule)
    _refuse_unused(loaded, name, parser, reward)
    if unknown := judged - {item.item_id for item in loaded.items}:
        raise EvaluationError(
            f"{folder} judged {counted(len(unknown), 'item')} that {path} does not hold, such as {min(unknown)}: "
            "give the --benchmark, --path and --subset that it was run on"
        )
    loaded = replace(loaded, items=[item for item in loaded.items if item.item_id in judged])
    options: dict[str, str | None] = {
        "parser": parser,
        "rule": None if rule == "own" else rule,
        "reward": None if reward == "paper" else reward,
    }
    changed = {key: value for key, value in options.items() if value}
    unanswered = before.get("unanswered", EXCLUDED)
    with Evaluation(loaded, out, resume=False, name=name, subset=subset, unanswered=unanswered) as evaluation:
        for row in before["rows"]:
            panel = row["name"]
            if row["settings"].get("baseline"):
                continue
            if panel not in started:
                raise EvaluationError(f"{folder / ROWS} has no entry for judge {panel!r}: the folder is incomplete")
            settings, own = started[panel]["settings"], votes[panel]
            _check_complete(panel, settings, own, loaded)
            evaluation.results[panel] = rescore(panel, own, loaded, settings, parser=parser, reward=reward)
            evaluation.settings[panel] = settings | changed
            evaluation.judges[panel] = started[panel]["judge"]
            evaluation.seconds[panel] = before["seconds"].get(panel, 0.0)
        return evaluation.finish([(difference["a"], difference["b"]) for difference in before["differences"]])


def _refuse_unused(benchmark: LoadedBenchmark, name: str, parser: Parser | None, reward: Reward) -> None:
    """Raises: EvaluationError for a parser of a benchmark that reads all answers itself, or a reward without labels."""
    if reward != "paper" and not benchmark.labels:
        raise EvaluationError(f"--reward is for labelled pairs, and {name} has no labels: leave it out")
    tasks = (benchmark.task(item, benchmark.presentation_orders(item)[0]) for item in benchmark.items)
    if parser and all(isinstance(task, CustomPrompt) for task in tasks):
        raise EvaluationError(f"--parser has no effect on {name}, which reads the answers itself: leave it out")


def _check_complete(panel: str, settings: Mapping[str, Any], votes: StoredVotes, benchmark: LoadedBenchmark) -> None:
    """Raises: EvaluationError if the evaluation ended without all the votes of an item that its settings ask for."""
    members = settings.get("members", [None])
    asked = settings if "members" in settings else {}
    requests = benchmark.requests(orders=asked.get("orders"), samples=asked.get("samples", 1))
    expected = {item_id: count * len(members) for item_id, count in zip(requests.ids, requests.counts(), strict=True)}
    if lost := {item_id: n for item_id in votes if (n := expected[item_id] - votes.count(item_id)) > 0}:
        raise EvaluationError(
            f"{votes.path}: judge {panel!r} lacks {counted(sum(lost.values()), 'vote')} on "
            f"{counted(len(lost), 'item')}, such as one on item {min(lost)}. Run them with `judge-r1 eval --resume` "
            "and the original options"
        )


def rescore(
    panel: str,
    votes: Mapping[str, Sequence[StoredVote]],
    benchmark: LoadedBenchmark,
    settings: Mapping[str, Any],
    *,
    parser: Parser | None = None,
    reward: Reward = "paper",
) -> PanelResults:
    """The results of a panel, scored again. `votes` are those of each item by its id; `settings` are the panel's in
    rows.json.

    Raises:
        EvaluationError: The benchmark lacks an item of the votes, or an item has no votes.
    """
    known = {item.item_id for item in benchmark.items}
    if unknown := next((item_id for item_id in votes if item_id not in known), None):
        raise EvaluationError(
            f"judge {panel!r} judged item {unknown}, which the benchmark does not hold: give the files that it "
            "was run on"
        )
    if missing := [item.item_id for item in benchmark.items if item.item_id not in votes]:
        raise EvaluationError(f"judge {panel!r} has no vote of item {missing[0]} and of {len(missing) - 1} more")
    rescored = _RescoredVotes(votes, benchmark, settings, parser, reward)
    return PanelResults.of(panel, benchmark, rescored, settings)


class _RescoredVotes(Mapping[str, Sequence[StoredVote]]):
    """Stored votes that are scored again on every read."""

    def __init__(
        self,
        stored: Mapping[str, Sequence[StoredVote]],
        benchmark: LoadedBenchmark,
        settings: Mapping[str, Any],
        parser: Parser | None,
        reward: Reward,
    ) -> None:
        self._stored, self._benchmark, self._parser, self._reward = stored, benchmark, parser, reward
        self._items = {item.item_id: item for item in benchmark.items}
        members = settings.get("members", [settings])
        self._prompts = [str(member.get("prompt")) for member in members]
        self._aggregates = ["aggregate" in member for member in members]

    def __getitem__(self, item_id: str) -> list[StoredVote]:
        return [self._rescored(stored) for stored in self._stored[item_id]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def _rescored(self, stored: StoredVote) -> StoredVote:
        trajectory = stored.trajectory
        # a judge that writes no text, an episode that never began, or a verdict that combines several answers
        if not trajectory.turns or self._aggregates[stored.member]:
            return stored
        item = self._items[stored.item_id]
        request = JudgeRequest(item, stored.order, stored.sample, self._benchmark.task(item, stored.order))
        if self._parser and not isinstance(request.task, CustomPrompt):
            trajectory = reparse(trajectory, _parse(self._prompts[stored.member], self._parser))
        verdict = request.read(trajectory)
        if (pair := self._benchmark.labels.get(stored.item_id)) is not None:
            trajectory = reward_as_shown(trajectory, pair, stored.order)
            parts = dict(trajectory.reward or {})
            trajectory = trajectory.model_copy(update={"reward": parts | {"r": REWARDS[self._reward](parts)}})
        return stored.model_copy(update={"trajectory": trajectory, "verdict": verdict})


def reparse(trajectory: Trajectory, parse: Parse) -> Trajectory:
    """The trajectory as it would have ended under another parser. Only an episode that ended in an answer, accepted or
    rejected, has a text to parse; any other is returned unchanged."""
    if trajectory.ended != "answer" and not trajectory.ended.startswith("rejected_"):
        return trajectory
    answer, _ = answer_of(trajectory.turns[-1].text)
    parsed = parse(answer)
    if isinstance(parsed, Rejected):
        return trajectory.model_copy(update={"judgment": None, "ended": f"rejected_{parsed.reason}"})
    before = trajectory.judgment
    same = before is not None and before.comparison == parsed.comparison
    judgment = parsed.model_copy(
        update={
            "evidence": evidence_of(trajectory.turns),
            "confidence": before.confidence if same and before is not None else None,
        }
    )
    return trajectory.model_copy(update={"judgment": judgment, "ended": "answer"})


def _parse(prompt: str, parser: Parser) -> Parse:
    if prompt == TABLE6:
        return parse_table6 if parser == "strict" else parse_table6_tolerant
    return parse_strict if parser == "strict" else parse_tolerant
