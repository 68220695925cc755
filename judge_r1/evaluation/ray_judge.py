"""Judges on the nodes of a Ray cluster: the workers build the judge and answer blocks of requests.

The evaluator runs as for any judge, so votes, results and `--resume` are those of one process. A block that has ended
is on disk; a killed evaluation repeats at most the blocks that were running.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from judge_r1.core.event_loop import run_sync
from judge_r1.core.ray_blocks import RayWorkers, run_blocks
from judge_r1.evaluation.selection import ItemSelection
from judge_r1.judges.base import Judge, JudgeBuild, JudgeOutput, NothingFits
from judge_r1.judges.panel import JudgePanel, PanelSpec, loads_model, make_member, parse_panel
from judge_r1.judges.request import JudgeRequest, RequestKey

BATCHES = 4
"""Batches of the judge in a block. Larger blocks keep a batch full for longer, and lose more in a kill."""
Answer = tuple[Any, ...]
"""A `JudgeOutput` without its request."""


@dataclass(frozen=True)
class RayEvaluation:
    """What the workers need to build judges. `build` has no texts and limits: these are the benchmark's."""

    selection: ItemSelection
    build: JudgeBuild
    workers: RayWorkers

    def panel(self, spec: str) -> JudgePanel:
        """The panel of a SPEC. Its judges are built once now, to learn their settings and whether they can be built: in
        this process, or in a worker if they load a model.

        Raises: BadJudge, UnknownName, RayFailed, and what the judges raise.
        """
        planned = parse_panel(spec)
        judges = tuple(RayJudge(self, planned, index) for index in range(len(planned.members)))
        return JudgePanel(planned.name, judges, planned.orders, planned.samples)


class RayJudge:
    """One member of a panel, on the workers."""

    def __init__(self, evaluation: RayEvaluation, planned: PanelSpec, member: int) -> None:
        self._size = BATCHES * evaluation.build.batch_size
        local = loads_model(planned.members[member])
        self._workers = replace(evaluation.workers, gpus=local)
        self._make = partial(_JudgeWorker, evaluation.selection, evaluation.build, planned, member)
        describe = partial(_Describer, self._make)
        [(self.name, self.settings)] = run_blocks([None], describe, self._workers) if local else [describe()(None)]

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        """The workers check each block before they answer it."""

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        keys = [request.key for request in requests]
        starts = range(0, len(keys), self._size)
        blocks = [keys[start : start + self._size] for start in starts]
        for start, answers in zip(starts, run_blocks(blocks, self._make, self._workers), strict=True):
            for index, answer in enumerate(answers, start):
                if answer is not None:
                    yield JudgeOutput(requests[index], *answer)


class _JudgeWorker:
    """Builds the judge in a worker. Answers a block of request keys, in their order; None for one left out."""

    def __init__(self, selection: ItemSelection, build: JudgeBuild, planned: PanelSpec, member: int) -> None:
        self._benchmark = selection.load()
        self._items = {item.item_id: item for item in self._benchmark.items}
        build = replace(build, texts=self._benchmark.texts, limits=self._benchmark.limits)
        self.judge: Judge = make_member(planned, member, build)

    def __call__(self, keys: Sequence[RequestKey]) -> list[Answer | None]:
        requests = [self._benchmark.request(self._items[item_id], order, sample) for item_id, order, sample in keys]
        with suppress(NothingFits):  # of this block; others may have prompts that fit
            self.judge.check(requests)
        found = run_sync(self._answers(requests))
        return [found.get(key) for key in keys]

    async def _answers(self, requests: Sequence[JudgeRequest]) -> dict[RequestKey, Answer]:
        return {output.request.key: tuple(output)[1:] async for output in self.judge.judge(requests)}


class _Describer:
    """The name and the settings of a judge."""

    def __init__(self, make: "partial[_JudgeWorker]") -> None:
        judge = make().judge
        self._described = judge.name, judge.settings

    def __call__(self, block: None) -> tuple[str, dict[str, Any]]:
        return self._described
