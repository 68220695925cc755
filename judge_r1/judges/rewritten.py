"""A judge that changes each task before another judge sees it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import Judge, JudgeOutput, JudgeWrapper, PromptFit
from judge_r1.judges.episode_factory import reject_custom_prompt
from judge_r1.judges.request import CustomPrompt, JudgeRequest

Rewrite = Callable[[PairwiseTask], PairwiseTask]


class RewritingJudge(JudgeWrapper):
    """Shows `judge` the tasks that `rewrite` returns. `prepare` gets the cases of all requests before the first one
    runs."""

    def __init__(
        self,
        judge: Judge,
        rewrite: Rewrite,
        settings: dict[str, Any],
        prepare: Callable[[Sequence[str]], None] = lambda case_ids: None,
    ) -> None:
        super().__init__(judge, settings)
        self._rewrite, self._prepare = rewrite, prepare
        self._checked: dict[Any, tuple[JudgeRequest, JudgeRequest]] = {}
        """The requests of the last check as given and as shown, since a retrieval may take a second for each."""

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        self._prepare([request.case_id for request in requests if request.case_id])
        self._checked = {request.key: (request, self.shown(request)) for request in requests}
        return self._judge.check([shown for _, shown in self._checked.values()])

    def shown(self, request: JudgeRequest) -> JudgeRequest:
        checked, shown = self._checked.pop(request.key, (None, request))
        if checked is request:
            return shown
        reject_custom_prompt(self.name, request, prompted=False)
        assert not isinstance(request.task, CustomPrompt)
        return replace(request, task=self._rewrite(request.task))

    def given(self, output: JudgeOutput) -> JudgeOutput:
        """The passages that the task showed are evidence of the judgment."""
        task, judgment = output.request.task, output.trajectory.judgment
        if isinstance(task, CustomPrompt) or not task.passages or judgment is None:
            return output
        shown = judgment.model_copy(update={"evidence": task.passages})
        return output._replace(trajectory=output.trajectory.model_copy(update={"judgment": shown}))
