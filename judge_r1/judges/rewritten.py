"""Judges that see a changed task: with passages that were retrieved once, or with examples.

    judge = RewritingJudge(judge, retrieve_once(CaseSearcher(texts, config), k=3), {"retrieve": 3})

The judge inside needs to know nothing of it, so a baseline is any judge with another rewrite. Results keep the requests
as they were asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from judge_r1.episode.case_searcher import CaseSearcher
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import BadJudge, Judge, JudgeOutput, JudgeWrapper, PromptFit
from judge_r1.judges.episode_factory import reject_custom_prompt
from judge_r1.judges.request import CustomPrompt, JudgeRequest, RequestKey
from retrieval.differences import difference_query

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
        self._checked: dict[RequestKey, tuple[JudgeRequest, JudgeRequest]] = {}
        """The requests of the last check as given and as shown, since a retrieval may take a second for each."""

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        self._prepare([request.case_id for request in requests if request.case_id])
        # The prompts to count are those that the judge will read, with the passages or examples in them.
        self._checked = {request.key: (request, self.shown(request)) for request in requests}
        return self._judge.check([shown for _, shown in self._checked.values()])

    def shown(self, request: JudgeRequest) -> JudgeRequest:
        checked = self._checked.pop(request.key, None)
        # Equal, not identical: a benchmark makes a request anew whenever it is read. The key alone would not do, since
        # it does not say what the texts are.
        if checked is not None and checked[0] == request:
            return checked[1]
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


def retrieve_once(searcher: CaseSearcher, k: int) -> Rewrite:
    """The rewrite that puts the `k` best passages of the case in the place of its context.

    The query has the words in which the candidates differ (`retrieval.differences`), in either order of the two, or
    decision and candidates if it finds nothing. Passages are shown in the order of the case.
    """

    def rewrite(task: PairwiseTask) -> PairwiseTask:
        if task.case_id is None:
            raise BadJudge("retrieve searches the case of a pair, but these items have none: leave out retrieve")
        both = " ".join((task.decision, *sorted((task.reasoning_a, task.reasoning_b))))
        for query in filter(str.strip, (difference_query(task.reasoning_a, task.reasoning_b), both)):
            if found := searcher.search([(task.case_id, query)], k)[0]:
                return replace(task, passages=tuple(sorted(found, key=lambda passage: passage.start)))
        return task

    return rewrite
