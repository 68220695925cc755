"""Runs a panel of judges on a benchmark and writes every finished vote to disk at once."""

import json
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.endpoint import EndpointError
from judge_r1.core.event_loop import run_sync
from judge_r1.core.progress import Done, watch_progress
from judge_r1.core.records import ReasoningPair
from judge_r1.core.text_check import are, counted
from judge_r1.evaluation.folder import Started, read_started
from judge_r1.evaluation.label_results import reward_as_shown
from judge_r1.evaluation.results import (
    IN_MEMORY,
    PanelResults,
    PanelUsage,
    StoredResults,
    add_usage,
    describe_usage,
    result_of,
)
from judge_r1.evaluation.vote_failures import NoAnswers, VotesMissing, final_vote, refused
from judge_r1.evaluation.votes import (
    EvaluationError,
    StoredVote,
    StoredVotes,
    append_votes,
    items_hash,
    lines_of,
    stored_counts,
)
from judge_r1.files.append_log import AppendLog
from judge_r1.files.evaluation_files import ROWS, VOTES
from judge_r1.files.jsonl import write_json
from judge_r1.judges.base import JudgeOutput, PromptFit
from judge_r1.judges.panel import JudgePanel


def check_stored(panels: Sequence[str], benchmark: LoadedBenchmark, *, out: Path, resume: bool) -> None:
    """Checks that `out` has no answers of the panels, or with `resume` none on other items. Reads only, and needs no
    judge, so it can run before the first one answers. `evaluate` checks the judge and its settings, too, and reports
    damaged lines.

    Raises:
        EvaluationError: There are such answers.
    """
    started = read_started(out)
    if not (out / VOTES).exists():
        return
    items = items_hash(benchmark.items)
    changed = {panel: ["items"] if started.get(panel, {}).get("items") != items else [] for panel in panels}
    if refused := [panel for panel in panels if changed[panel] or not resume]:
        counts = stored_counts(out)
        for panel in refused:
            if counts[panel]:
                raise _holds_answers(out, counts[panel], panel, changed[panel])


def evaluate(
    panel: JudgePanel, benchmark: LoadedBenchmark, *, out: Path, resume: bool, console: Console | None = None
) -> PanelResults:
    """Judges every item of `benchmark`; each vote becomes a line of `out/votes.jsonl` under the panel's name.

    With `resume`, votes found there are not run again; a last line torn by a kill is dropped. Votes that ended by an
    infrastructure failure are not stored, so a resume runs them again. A request that the server fails on in the same
    way on each attempt (`Trajectory.unanswered`) is stored as an invalid vote of that name, if the judge answers
    others. `out` may hold other panels. Without `resume` it must not hold this one; with it, the panel must have been
    started with the same judges and settings on the same items. Trajectories stay on disk, and results do from
    `IN_MEMORY` items on.

    Raises:
        VotesMissing: Votes are missing at the end. The error has the results of the other items.
        EvaluationError: `out` cannot take this panel, the judge answers no request, or a file cannot be written.
    """
    console = console or Console(stderr=True)
    progress = _PanelProgress(panel, benchmark, out)
    try:
        return run_sync(_evaluate(panel, benchmark, out, console, progress, resume=resume))
    finally:  # also after an error or Ctrl-C: what was paid is always reported
        if paid := progress.paid():
            console.print(paid, soft_wrap=True, markup=False, highlight=False)


async def _evaluate(
    panel: JudgePanel,
    benchmark: LoadedBenchmark,
    out: Path,
    console: Console,
    progress: "_PanelProgress",
    *,
    resume: bool,
) -> PanelResults:
    requests = progress.requests
    for judge in panel.members:
        if (fit := judge.check(requests)) and fit.longest:
            console.print(overflow_warning(panel.name, fit), soft_wrap=True, markup=False, highlight=False)
    done = _begin(panel, benchmark, out, console, progress, resume=resume)
    failures, said = Counter[str](), ""
    with watch_progress(f"judging for {panel.name}", progress.done), append_votes(out / VOTES) as append:

        def store(member: int, output: JudgeOutput) -> None:
            stored = stored_vote(panel.name, member, output, benchmark.labels)
            progress.add(stored, *append(stored))

        for member, judge in enumerate(panel.members):
            # Outputs are held until the judge has given one answer (see below).
            waiting, held = ~done[member], list[JudgeOutput]()
            missing = requests.keep(array("q", np.flatnonzero(waiting)))
            if not missing:
                continue
            answers = bool(done[member].any())
            while True:
                try:
                    async for output in judge.judge(missing):
                        place = requests.position(output.request.key)
                        if place is None or not waiting[place]:
                            raise EvaluationError(
                                f"judge {judge.name!r} answered item {output.request.item.item_id} unasked or twice: "
                                "this is a bug in the judge"
                            )
                        waiting[place] = False
                        if output.trajectory.infrastructure_failed and not output.trajectory.unanswered:
                            add_usage(progress.lost, output.usage)
                            failures[output.trajectory.ended] += 1
                            said = said or output.trajectory.detail or ""
                            continue
                        # Until the judge has given one answer, a refusal may be that of a server that is down, or
                        # whose context is too short for all prompts: none is stored.
                        held.append(output)
                        if answers := answers or not (refused(output) or output.trajectory.infrastructure_failed):
                            for found in held:
                                store(member, final_vote(found))
                            held.clear()
                    break
                except EndpointError:  # a server that answered others and refuses these is not down
                    if not answers or failures or waiting.sum() == len(missing):
                        raise
                    missing = requests.keep(array("q", np.flatnonzero(waiting)))
            if held:
                raise NoAnswers(panel.name, held)
            if waiting.any():
                failures["unanswered"] += int(waiting.sum())
    return progress.results(failures, said)


def overflow_warning(panel: str, fit: PromptFit) -> str:
    """The warning that prompts do not fit, printed before a judge runs."""
    tokens, limit = fit.longest or (0, 0)
    return (
        f"warning: {panel}: {fit.too_long} of {counted(fit.prompts, 'prompt')} {are(fit.too_long)} too long; the "
        f"longest has {tokens:,} tokens, and its limit is {limit:,}. Items whose prompts do not fit are not run, count "
        "as wrong and are reported as `does not fit`. The limit is prompt_tokens, or the model's context without the "
        "answer (budget.response_tokens): change these options of the judge, or take a model that reads more"
    )


class _PanelProgress:
    """The results of the items that have all their votes, and where the votes of all others are on disk. Of an item,
    memory holds its id and a few numbers."""

    def __init__(self, panel: JudgePanel, benchmark: LoadedBenchmark, out: Path) -> None:
        self.panel, self.settings, self.benchmark = panel.name, panel_settings(panel), benchmark
        self.requests = requests = benchmark.requests(orders=panel.orders, samples=panel.samples)
        self.expected = np.array(requests.counts(), dtype=np.int32) * len(panel.members)
        if not len(requests.ids) or requests.ids.distinct < len(requests.ids):
            raise EvaluationError(
                f"judge {panel.name!r} needs items that differ, and at least one; it has {len(requests.ids)} of "
                f"which {requests.ids.distinct} differ"
            )
        if not self.expected.all():
            raise EvaluationError(
                f"judge {panel.name!r}: the benchmark shows item {requests.ids.at(int(self.expected.argmin()))} in no "
                "order, so no judge can answer it: this is a bug in the benchmark"
            )
        if not any(benchmark.counts(item.gold) for item in benchmark.items):
            raise EvaluationError(
                f"judge {panel.name!r}: none of the {len(requests.ids)} items counts in the accuracy, such as pairs "
                "that the gold calls a tie: evaluate more items"
            )
        self.votes = StoredVotes(out / VOTES, requests.ids)
        self.finished = StoredResults(out, benchmark.items)
        self.usage, self.lost = PanelUsage(), dict[str, float]()
        self._right, self._counted = 0.0, 0

    def add(self, stored: StoredVote, offset: int, digest: str) -> None:
        """Notes a stored vote; the last one of an item completes its result."""
        self.usage.add(stored)
        index = self.requests.ids[stored.item_id]
        if self.votes.add(stored.item_id, offset, digest) == self.expected[index]:
            votes = [stored] if self.expected[index] == 1 else self.votes[stored.item_id]
            result = result_of(self.panel, self.benchmark, self.benchmark.items[index], votes, self.settings)
            self.finished.add(index, result)
            if self.benchmark.counts(result.gold) and result.answered:
                self._right, self._counted = self._right + result.score, self._counted + 1

    def done(self) -> Done:
        """The judged items and their mean score, for a display."""
        name = "mean score" if self.benchmark.rates_texts else "accuracy"
        score = f"{name} {self._right / self._counted:.2f}" if self._counted else ""
        return Done(len(self.finished), len(self.benchmark.items), score)

    def paid(self) -> str:
        """What the votes cost at endpoints, and those that failed in between; empty if nothing was paid."""
        kept, lost = describe_usage(self.usage.counts), describe_usage(self.lost)
        lost = f"; votes that failed cost {lost} more" if lost else ""
        return f"{self.panel}: {kept or 'no vote'}{lost}" if kept or lost else ""

    def results(self, failures: Counter[str], said: str = "") -> PanelResults:
        """The results, in the benchmark's order. `said` is the message of a server that failed.

        Raises:
            VotesMissing: Votes are missing.
        """
        lacking = self.expected - np.array(self.votes.counts(), dtype=np.int32)
        results = list(self.finished) if len(self.finished) <= IN_MEMORY else self.finished
        found = PanelResults(self.panel, self.benchmark, self.votes, results, self.usage)
        if lacking.any():
            first = self.requests.ids.at(int(lacking.argmax()))
            ended = ", ".join(f"{count} ended as {name}" for name, count in failures.items())
            raise VotesMissing(
                f"judge {self.panel!r}: {lacking.sum()} of {self.expected.sum()} votes are missing, such as one on "
                f"item {first} ({ended}{said and f'; {said}'}): run again with --resume to judge them",
                found,
            )
        return found


def stored_vote(panel: str, member: int, output: JudgeOutput, labels: Mapping[str, ReasoningPair]) -> StoredVote:
    """The vote of an output, with the reward of an episode on a labelled pair. Raises: EvaluationError for
    log-probabilities that are not finite."""
    request, trajectory = output.request, output.trajectory
    # JSON has no NaN, and a vote that cannot be read again is a lost result.
    if not all(map(isfinite, trajectory.logprobs)):
        raise EvaluationError(
            f"judge {panel!r}: item {request.item.item_id} was answered with log-probabilities that are not finite, "
            "which a file of votes cannot hold: that is a mistake in the judge or its server"
        )
    if output.confidence is not None and trajectory.judgment is not None:
        judgment = trajectory.judgment.model_copy(update={"confidence": output.confidence})
        trajectory = trajectory.model_copy(update={"judgment": judgment})
    pair = labels.get(request.item.item_id)
    if pair is not None and trajectory.turns:
        trajectory = reward_as_shown(trajectory, pair, request.order)
    return StoredVote(
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
    console: Console,
    progress: _PanelProgress,
    *,
    resume: bool,
) -> NDArray[np.bool_]:
    """Checks that `out` may take this panel, notes it there and adds the votes that it has. Returns which requests
    each member has answered, of shape [members, requests]."""
    if out.exists() and not out.is_dir():
        raise EvaluationError(f"{out} is not a folder: choose another --out")
    started, path = read_started(out), out / VOTES
    if path.exists():
        with AppendLog(path) as log:
            if log.mend():
                console.print(f"{escape(str(path))}: its last line was torn by a kill and is dropped")
    # In the form that rows.json gives back, which has lists in the place of tuples.
    settings = json.loads(json.dumps(panel_settings(panel)))
    items = items_hash(benchmark.items, progress.requests.ids)
    entry = Started(judge=judge_names(panel), settings=settings, items=items).as_dict()
    # A folder that holds no row of this panel differs in all three: it is a new start, unless it has its answers.
    changed = [key for key in entry if started.get(panel.name, {}).get(key) != entry[key]]
    done = np.zeros((len(panel.members), len(progress.requests)), dtype=np.bool_)
    odd: list[str] = []
    for offset, digest, stored in lines_of(path, StoredVote) if path.exists() else ():
        if stored.row != panel.name:
            continue
        place = progress.requests.position((stored.item_id, stored.order, stored.sample))
        if place is None or not 0 <= stored.member < len(done):
            odd.append(stored.item_id)
            continue
        if done[stored.member, place]:
            raise EvaluationError(
                f"{path} holds a vote on item {stored.item_id} of judge {panel.name!r} twice: remove one line"
            )
        done[stored.member, place] = True
        if resume and not changed:
            progress.add(stored, offset, digest)
    if (count := int(done.sum()) + len(odd)) and (changed or not resume):
        raise _holds_answers(out, count, panel.name, changed)
    if odd:
        raise EvaluationError(
            f"{path} holds {counted(len(odd), 'vote')} of judge {panel.name!r} that it does not ask for, such as "
            f"one on item {min(odd)}: the file is damaged; remove their lines"
        )
    # Before the first answer: a resume after a kill must know what the votes were made with.
    if changed:
        write_json(out / ROWS, {**started, panel.name: entry})
    return done


def _holds_answers(out: Path, count: int, panel: str, changed: Sequence[str]) -> EvaluationError:
    """The error of a folder with answers of a panel. `changed` names what they were made with others of."""
    held = f"{out} holds {counted(count, 'answer')} of judge {panel!r}"
    if changed:
        what = " and ".join(changed)
        return EvaluationError(
            f"{held} from before a change of its {what}: choose another --out, or give the former {what} and --resume"
        )
    return EvaluationError(
        f"{held}: add --resume to keep them and ask only for what is missing, or choose another --out"
    )


def panel_settings(panel: JudgePanel) -> dict[str, Any]:
    """Everything but the weights that the panel's answers depend on: the settings of its judge, or of all members."""
    if len(panel.members) == 1 and panel.orders is None and panel.samples == 1:
        return panel.members[0].settings
    members = [{"judge": judge.name, **judge.settings} for judge in panel.members]
    return {"orders": panel.orders, "samples": panel.samples, "members": members}


def judge_names(panel: JudgePanel) -> str:
    """The names of the panel's judges."""
    return "|".join(judge.name for judge in panel.members)
