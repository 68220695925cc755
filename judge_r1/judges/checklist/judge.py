"""The checklist judge: answers the questions of a checklist about one text, on any model.

It judges absolutely: each text alone, whatever it is compared with. `form=call` (the default) puts all questions into
one prompt (HelloEval, section 3.3). `form=search` answers them one by one from passages of the text
(`judge_r1.judges.checklist.search`). `rubric=FILE` scores the candidates of any benchmark with your own criteria.
`decoding=constrained` lets a local model write answers in the right form only (`judge_r1.judges.direct`).
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from judge_r1.core.checklist import Checklist
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, Judgment, ScoresVerdict, Verdict
from judge_r1.episode.config import EpisodeConfig
from judge_r1.files.rubric_file import checklist_for, read_rubric
from judge_r1.judges.agentic import AgenticJudge
from judge_r1.judges.backend_spec import ENDPOINT_OPTIONS, judge_of_backend, split_options
from judge_r1.judges.base import (
    JUDGES,
    BadJudge,
    Judge,
    JudgeBuild,
    JudgeKind,
    JudgeOutput,
    JudgeWrapper,
    PromptFit,
    joined_output,
    usage_of,
    whole_number,
)
from judge_r1.judges.checklist.search import SearchedChecklist, search_prompt_hash
from judge_r1.judges.checklist.task import CONSTRAINED_LIMITS, LIMITS, ChecklistTask, checklist_task, prompt_hash
from judge_r1.judges.direct import ConstrainedJudge, direct_config, is_constrained
from judge_r1.judges.request import JudgeRequest

Rubric = Mapping[str, Checklist]
CALL, SEARCH = "call", "search"


def checklist_config(build: JudgeBuild) -> EpisodeConfig:
    """The direct judge's configuration, with room for long texts unless the benchmark or a recipe sets the limits."""
    return direct_config(build if build.recipe or build.limits.options else replace(build, limits=LIMITS))


class ChecklistJudge(JudgeWrapper):
    """Asks `judge`, which answers plain prompts, up to `attempts` times for each text, until an answer is valid.

    A candidate is judged once, also if several orders show it. The verdict on a `ChecklistTask` is a checklist; the
    verdict on other requests is one score in [0, 1] per candidate, by `rubric`.
    """

    def __init__(
        self,
        judge: Judge,
        *,
        attempts: int = 1,
        batch_size: int = 32,
        rubric: Rubric | None = None,
        searched: SearchedChecklist | None = None,
    ) -> None:
        own: dict[str, Any] = {
            "form": SEARCH if searched else CALL,
            "prompt_hash": search_prompt_hash() if searched else prompt_hash(),
            "attempts": attempts,
            **({"rubric": {name: found.digest for name, found in rubric.items()}} if rubric else {}),
        }
        super().__init__(judge, own)
        self._attempts, self._batch_size, self._rubric, self._searched = attempts, batch_size, rubric, searched

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        parts = [part for request in requests for part in self._parts(request)]
        return self._judge.check(parts) if self._searched is None else None

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        """Yields an output as soon as all texts of its request are judged. Searched texts run in batches."""
        size = self._batch_size if self._searched else max(1, len(requests))
        for start in range(0, len(requests), size):
            async with aclosing(self._batch(requests[start : start + size])) as outputs:
                async for output in outputs:
                    yield output

    async def _batch(self, requests: Sequence[JudgeRequest]) -> AsyncGenerator[JudgeOutput, None]:
        # By key, because requests share texts: both orders of a pair show the same two, and each is judged once.
        parts_of = {request.key: self._parts(request) for request in requests}
        parts = {part.key: part for found in parts_of.values() for part in found}
        users: dict[Any, list[JudgeRequest]] = {}
        for request in requests:
            for part in parts_of[request.key]:
                users.setdefault(part.key, []).append(request)
        judged: dict[Any, JudgeOutput] = {}
        for attempt in range(self._attempts):
            final = attempt + 1 == self._attempts
            again = [part for key, part in parts.items() if key not in judged or _failed(judged[key])]
            waiting = {part.key for part in again}
            async with aclosing(self._answers([_numbered(part, attempt) for part in again])) as outputs:  # type: ignore[type-var]
                async for output in outputs:
                    key = _numbered(output.request, -attempt).key
                    judged[key] = _added(output._replace(request=parts[key]), judged.get(key))
                    waiting.discard(key)
                    for request in users[key]:
                        # A text that is asked about again still has the output of the attempt before.
                        if waiting.isdisjoint(own := [part.key for part in parts_of[request.key]]):
                            found = [judged[part] for part in own]
                            if final or not any(map(_failed, found)):
                                yield self._combined(request, found)

    def _answers(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        return self._judge.judge(requests) if self._searched is None else self._searched.judge(self._judge, requests)

    def _parts(self, request: JudgeRequest) -> list[JudgeRequest]:
        """The request for each text that `request` shows."""
        item, task = request.item, request.task
        if isinstance(task, ChecklistTask):
            if self._rubric:
                raise BadJudge("checklist:rubric=FILE is for items without a checklist of their own")
            return [request]
        if self._rubric is None:
            raise BadJudge(
                f"item {item.item_id} has no checklist: give your criteria as checklist:rubric=FILE@MODEL, or use a "
                "benchmark with checklists (hellobench, checklist)"
            )
        checklist = checklist_for(self._rubric, item.group, f"item {item.item_id}")
        return [
            replace(request, order=(index,), task=checklist_task(item.instruction, item.texts[index], checklist))
            for index in request.order
        ]

    def _combined(self, request: JudgeRequest, outputs: Sequence[JudgeOutput]) -> JudgeOutput:
        if isinstance(request.task, ChecklistTask):
            (output,) = outputs
            return output._replace(trajectory=_with_judgment(output.trajectory, output.verdict))
        invalid = next((out.verdict for out in outputs if isinstance(out.verdict, InvalidVerdict)), None)
        verdict: Verdict = invalid or ScoresVerdict(scores=tuple(_score(output) for output in outputs))
        turns = [turn for output in outputs for turn in output.trajectory.turns]
        whole = joined_output(request, outputs, verdict, turns)
        overflow = next((output.overflow for output in outputs if output.overflow), None)
        return whole._replace(trajectory=_with_judgment(whole.trajectory, verdict), overflow=overflow)


def _score(output: JudgeOutput) -> float:
    task, verdict = output.request.task, output.verdict
    assert isinstance(task, ChecklistTask)
    assert isinstance(verdict, ChecklistVerdict)
    return task.checklist.score(verdict.scores.values())


def _failed(output: JudgeOutput) -> bool:
    """Whether another attempt may help: an answer that cannot be read, not a prompt that is too long."""
    return isinstance(output.verdict, InvalidVerdict) and output.overflow is None and bool(output.trajectory.turns)


def _numbered(request: JudgeRequest, attempt: int) -> JudgeRequest:
    """The request with the seed of an attempt. Samples of one item are far fewer than the distance."""
    return replace(request, sample=request.sample + 1_000_000 * attempt)


def _added(output: JudgeOutput, earlier: JudgeOutput | None) -> JudgeOutput:
    """The output with its usage, and that of the earlier attempts."""
    usage = usage_of([output] if earlier is None else [output, earlier])
    return output._replace(usage=usage)


def _with_judgment(trajectory: Trajectory, verdict: Verdict) -> Trajectory:
    if isinstance(verdict, InvalidVerdict):
        return trajectory
    return trajectory.model_copy(update={"judgment": Judgment(verdict=verdict)})


def _make(build: JudgeBuild) -> Judge:
    build, own = split_options(build, ("form", "attempts", "rubric", "queries", "decoding"))
    if own.get("form", CALL) not in (CALL, SEARCH):
        raise BadJudge(f"checklist: form is {CALL} or {SEARCH}, not {own['form']!r}")
    constrained = is_constrained("checklist", own.get("decoding"), build.backend)
    if constrained:
        build = replace(build, limits=CONSTRAINED_LIMITS)
    attempts = whole_number("checklist", own, "attempts") or 1
    config = checklist_config(split_options(build, ENDPOINT_OPTIONS)[0])
    rubric = read_rubric(Path(own["rubric"])) if "rubric" in own else None
    searched = None
    if own.get("form") == SEARCH:
        searched = SearchedChecklist(config, whole_number("checklist", own, "queries") or 3)
    elif "queries" in own:
        raise BadJudge("checklist: queries belongs to form=search")
    local = ConstrainedJudge if constrained else AgenticJudge
    judge = judge_of_backend(build, "checklist", checklist_config, local, prompted=True)
    return ChecklistJudge(judge, attempts=attempts, batch_size=build.batch_size, rubric=rubric, searched=searched)


JUDGES.register("checklist")(
    JudgeKind("answers the questions of a checklist about each text alone; a model as for direct", _make)
)
