"""Runs a panel of judges on a benchmark and writes every finished vote to disk at once."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from judge_r1.benchmarks.base import LoadedBenchmark, Requests
from judge_r1.core.endpoint import EndpointError
from judge_r1.core.event_loop import run_sync
from judge_r1.core.items import ItemResult, compact
from judge_r1.core.jsonl import read_with_offsets, write_json
from judge_r1.core.records import ReasoningPair
from judge_r1.evaluation.folder import ROWS, read_started
from judge_r1.evaluation.label_results import reward_as_shown
from judge_r1.evaluation.results import PanelResults, result_of
from judge_r1.evaluation.traces import (
    TRACES,
    EvaluationError,
    StoredTraces,
    Trace,
    append_traces,
    drop_torn_line,
    items_hash,
    total_usage,
)
from judge_r1.evaluation.vote_failures import NoAnswers, VotesMissing, final_vote
from judge_r1.judges.base import JudgeOutput, PromptFit
from judge_r1.judges.panel import JudgePanel

VoteKey = tuple[int, str, tuple[int, ...], int]


def evaluate(
    panel: JudgePanel, benchmark: LoadedBenchmark, *, out: Path, resume: bool, console: Console | None = None
) -> PanelResults:
    """Judges every item of `benchmark`; each vote becomes a line of `out/traces.jsonl` under the panel's name.

    With `resume`, votes found there are not run again; a last line torn by a kill is dropped. Votes that ended by an
    infrastructure failure are not stored, so a resume runs them again. A request that the server fails on in the same
    way on each attempt (`Trajectory.unanswered`) is stored as an invalid vote of that name, if the judge answers
    others. `out` may hold other panels. Without `resume` it must not hold this one; with it, the panel must have been
    started with the same judges and settings on the same items. Trajectories stay on disk: memory holds the votes and
    labels of each item.

    Raises:
        VotesMissing: Votes are missing at the end. The error has the results of the other items.
        EvaluationError: `out` cannot take this panel, the judge answers no request, or a file cannot be written.
    """
    return run_sync(_evaluate(panel, benchmark, out, resume, console or Console(stderr=True)))


async def _evaluate(
    panel: JudgePanel, benchmark: LoadedBenchmark, out: Path, resume: bool, console: Console
) -> PanelResults:
    requests = benchmark.requests(orders=panel.orders, samples=panel.samples)
    progress = _PanelProgress(panel, benchmark, out / TRACES, requests)
    for judge in panel.members:
        if (fit := judge.check(requests)) and fit.longest:
            console.print(overflow_warning(panel.name, fit), soft_wrap=True, markup=False, highlight=False)
    done = _begin(panel, benchmark, out, resume, console, progress)
    members = range(len(panel.members))
    if done and (odd := done - {(member, *key) for key in requests.request_keys for member in members}):
        raise EvaluationError(
            f"{out / TRACES} holds {len(odd)} vote(s) of panel {panel.name!r} that it does not ask for, such as one on "
            f"item {min(odd)[1]}: the file is damaged; remove their lines"
        )
    failures, said = Counter[str](), ""
    with _progress_bar(console, panel.name, len(benchmark.items)) as show, append_traces(out / TRACES) as append:

        def store(member: int, output: JudgeOutput) -> None:
            trace = _trace(panel.name, member, output, benchmark.labels)
            progress.add(trace, append(trace))
            show(len(progress.finished), progress.scores)

        show(len(progress.finished), progress.scores)
        for member, judge in enumerate(panel.members):
            missing = requests.keep(lambda key, member=member: (member, *key) not in done)  # type: ignore[misc]
            if not missing:
                continue
            waiting, held = set(missing.request_keys), list[JudgeOutput]()
            answers = any(stored == member for stored, *_ in done)
            while True:
                try:
                    async for output in judge.judge(missing):
                        if output.request.key not in waiting:
                            raise EvaluationError(
                                f"judge {judge.name!r} answered item {output.request.item.item_id} unasked or twice: "
                                "this is a bug in the judge"
                            )
                        waiting.remove(output.request.key)
                        if output.trajectory.infrastructure_failed and not output.trajectory.unanswered:
                            failures[output.trajectory.ended] += 1
                            said = said or output.trajectory.detail or ""
                            continue
                        held.append(output)
                        if answers := answers or not output.trajectory.infrastructure_failed:
                            for found in held:
                                store(member, final_vote(found))
                            held.clear()
                    break
                except EndpointError:  # a server that answered others and refuses these is not down
                    if not answers or failures or len(waiting) == len(missing):
                        raise
                    missing = missing.keep(waiting.__contains__)
            if held:
                raise NoAnswers(panel.name, held)
            if waiting:
                failures["unanswered"] += len(waiting)
    return progress.results(failures, said)


def overflow_warning(panel: str, fit: PromptFit) -> str:
    """The warning that prompts do not fit, printed before a judge runs."""
    tokens, limit = fit.longest or (0, 0)
    return (
        f"warning: {panel}: {fit.too_long} of {fit.prompts} prompts do not fit; the longest has {tokens:,} tokens, and "
        f"its limit is {limit:,}. They are not run, count as wrong and are reported as `does not fit`. The limit is "
        "prompt_tokens, or the model's context without the answer (budget.response_tokens): change these options of "
        "the judge, or take a model that reads more"
    )


class _PanelProgress:
    """The results of the items that have all their votes, and where the traces of all others are on disk."""

    def __init__(self, panel: JudgePanel, benchmark: LoadedBenchmark, path: Path, requests: Requests) -> None:
        self.panel, self.settings, self.benchmark = panel.name, panel_settings(panel), benchmark
        self.expected = {item_id: count * len(panel.members) for item_id, count in Counter(requests.item_ids).items()}
        self.places = {item_id: index for item_id, (index, _, _) in zip(requests.item_ids, requests.keys, strict=True)}
        if len(self.places) != len(benchmark.items) or not self.places:
            raise EvaluationError(
                f"panel {panel.name!r} needs items that differ, and at least one; it has {len(benchmark.items)} of "
                f"which {len(self.places)} differ"
            )
        if not any(benchmark.counts(item.gold) for item in benchmark.items):
            raise EvaluationError(
                f"panel {panel.name!r}: none of the {len(self.places)} items counts in the accuracy, such as pairs "
                "that the gold calls a tie: evaluate more items"
            )
        self.traces = StoredTraces(path)
        self.finished: dict[str, ItemResult] = {}
        self.scores: list[float] = []
        self.usages: list[Mapping[str, float]] = []

    def add(self, trace: Trace, offset: int) -> None:
        """Notes a stored trace; the last one of an item completes its result."""
        item_id = trace.item_id
        self.traces.add(item_id, offset)
        if trace.usage:
            self.usages.append(trace.usage)
        if self.traces.count(item_id) == self.expected[item_id]:
            votes = [trace] if self.expected[item_id] == 1 else self.traces[item_id]
            item = self.benchmark.items[self.places[item_id]]
            result = compact(result_of(self.panel, self.benchmark, item, votes, self.settings))
            self.finished[item_id] = result
            self.scores += [result.score] if self.benchmark.counts(result.gold) and result.answered else []

    def results(self, failures: Counter[str], said: str = "") -> PanelResults:
        """The results, in the benchmark's order. `said` is the message of a server that failed.

        Raises:
            VotesMissing: Votes are missing.
        """
        lacking = {item_id: count - self.traces.count(item_id) for item_id, count in self.expected.items()}
        missing = [item_id for item_id, count in lacking.items() if count]
        results = [self.finished[item_id] for item_id in self.places if item_id in self.finished]
        found = PanelResults(self.panel, self.benchmark, self.traces, results, total_usage(self.usages))
        if missing:
            raise VotesMissing(
                f"panel {self.panel!r}: {sum(lacking.values())} of {sum(self.expected.values())} votes are missing, "
                f"such as one on item {missing[0]} (failures: {dict(failures)}{said and f'; {said}'}): run again with "
                "--resume to judge them",
                found,
            )
        return found


def _trace(panel: str, member: int, output: JudgeOutput, labels: Mapping[str, ReasoningPair]) -> Trace:
    request, trajectory = output.request, output.trajectory
    if not all(map(isfinite, trajectory.logprobs)):
        raise EvaluationError(
            f"panel {panel!r}: item {request.item.item_id} was answered with log-probabilities that are not finite, "
            "which a file of traces cannot hold: that is a mistake in the judge or its server"
        )
    if output.confidence is not None and trajectory.judgment is not None:
        judgment = trajectory.judgment.model_copy(update={"confidence": output.confidence})
        trajectory = trajectory.model_copy(update={"judgment": judgment})
    pair = labels.get(request.item.item_id)
    if pair is not None and trajectory.turns:
        trajectory = reward_as_shown(trajectory, pair, request.order)
    return Trace(
        row=panel,
        item_id=request.item.item_id,
        order=request.order,
        sample=request.sample,
        member=member,
        verdict=output.verdict,
        trajectory=trajectory,
        usage=None if output.usage is None else dict(output.usage),
        memory=() if trajectory.judgment else output.memory,
    )


def _begin(
    panel: JudgePanel,
    benchmark: LoadedBenchmark,
    out: Path,
    resume: bool,
    console: Console,
    progress: _PanelProgress,
) -> set[VoteKey]:
    """Checks that `out` may take this panel, notes it there and adds the traces that it has; returns their keys."""
    if out.exists() and not out.is_dir():
        raise EvaluationError(f"{out} is not a folder: choose another --out")
    started, path = read_started(out), out / TRACES
    if drop_torn_line(path):
        console.print(f"{escape(str(path))}: its last line was torn by a kill and is dropped")
    entry = {
        "judge": judge_names(panel),
        "settings": json.loads(json.dumps(panel_settings(panel))),
        "items": items_hash(benchmark.items),
    }
    changed = [key for key in entry if started.get(panel.name, {}).get(key) != entry[key]]
    done: set[VoteKey] = set()
    for offset, trace in read_with_offsets(path, Trace) if path.exists() else ():
        if trace.row != panel.name:
            continue
        if trace.key in done:
            raise EvaluationError(
                f"{path} holds a vote on item {trace.item_id} of panel {panel.name!r} twice: remove one line"
            )
        done.add(trace.key)
        if resume and not changed:
            progress.add(trace, offset)
    if done and not resume:
        raise EvaluationError(
            f"{out} holds {len(done)} answer(s) of judge {panel.name!r} already: add --resume to continue from them, "
            "or choose another --out"
        )
    if done and changed:
        raise EvaluationError(
            f"{out} holds answers of judge {panel.name!r} made with other {' and '.join(changed)}: resume with the "
            "original ones, or choose another --out"
        )
    if changed:
        write_json(out / ROWS, {**started, panel.name: entry})
    return done


def panel_settings(panel: JudgePanel) -> dict[str, Any]:
    """Everything but the weights that the panel's answers depend on: the settings of its judge, or of all members."""
    if len(panel.members) == 1 and panel.orders is None and panel.samples == 1:
        return panel.members[0].settings
    members = [{"judge": judge.name, **judge.settings} for judge in panel.members]
    return {"orders": panel.orders, "samples": panel.samples, "members": members}


def judge_names(panel: JudgePanel) -> str:
    """The names of the panel's judges."""
    return "|".join(judge.name for judge in panel.members)


@contextmanager
def _progress_bar(console: Console, panel: str, total: int) -> Iterator[Callable[[int, list[float]], None]]:
    """Yields a function that shows the number of judged items and the mean of the scores so far: a bar on a terminal,
    about ten plain lines elsewhere."""
    right, counted, shown = 0.0, 0, -1

    def accuracy(scores: list[float]) -> str:
        nonlocal right, counted
        right, counted = right + sum(scores[counted:]), len(scores)
        return f"accuracy {right / counted:.2f}" if counted else "accuracy –"

    if not console.is_terminal:

        def print_tenth(judged: int, scores: list[float]) -> None:
            nonlocal shown
            tenth = 10 * judged // total
            if tenth > shown:
                shown = tenth
                console.out(f"{panel}: {judged}/{total} judged, {accuracy(scores)}", highlight=False)

        yield print_tenth
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[accuracy]}"), TimeRemainingColumn())
    with Progress(TextColumn("{task.description}"), *columns, console=console) as bar:
        task = bar.add_task(escape(panel), total=total, accuracy="")
        yield lambda judged, scores: bar.update(task, completed=judged, accuracy=accuracy(scores))
