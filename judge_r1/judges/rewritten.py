"""A judge that changes each task before another judge sees it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import Closable, Judge, JudgeOutput, PromptFit
from judge_r1.judges.episode_factory import reject_custom_prompt
from judge_r1.judges.request import CustomPrompt, JudgeRequest

Rewrite = Callable[[PairwiseTask], PairwiseTask]


class RewritingJudge:
    """Shows `judge` the tasks that `rewrite` returns. `settings` are added to those of the judge; `prepare` gets the
    cases of all requests before the first one runs."""

    def __init__(
        self,
        judge: Judge,
        rewrite: Rewrite,
        settings: dict[str, Any],
        prepare: Callable[[Sequence[str]], None] = lambda case_ids: None,
    ) -> None:
        self._judge, self._rewrite, self._prepare = judge, rewrite, prepare
        self.name, self.settings = judge.name, {**judge.settings, **settings}
        self._checked: dict[Any, tuple[JudgeRequest, JudgeRequest]] = {}
        """The requests of the last check as given and as shown, since a retrieval may take a second for each."""

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        self._prepare([request.case_id for request in requests if request.case_id])
        self._checked = {request.key: (request, self._shown(request, {})) for request in requests}
        return self._judge.check([shown for _, shown in self._checked.values()])

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        checked, self._checked = self._checked, {}
        shown = await asyncio.to_thread(lambda: [self._shown(request, checked) for request in requests])
        async with aclosing(self._judge.judge(shown)) as outputs:  # type: ignore[type-var]
            async for output in outputs:
                yield _with_evidence(output)

    def close(self) -> None:
        if isinstance(self._judge, Closable):
            self._judge.close()

    def _shown(self, request: JudgeRequest, checked: Mapping[Any, tuple[JudgeRequest, JudgeRequest]]) -> JudgeRequest:
        given, shown = checked.get(request.key, (None, request))
        if given is request:
            return shown
        reject_custom_prompt(self.name, request, prompted=False)
        assert not isinstance(request.task, CustomPrompt)
        return replace(request, task=self._rewrite(request.task))


def _with_evidence(output: JudgeOutput) -> JudgeOutput:
    """The passages that the task showed are evidence of the judgment."""
    task, judgment = output.request.task, output.trajectory.judgment
    if isinstance(task, CustomPrompt) or not task.passages or judgment is None:
        return output
    shown = judgment.model_copy(update={"evidence": task.passages})
    return output._replace(trajectory=output.trajectory.model_copy(update={"judgment": shown}))
