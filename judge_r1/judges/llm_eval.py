"""The baselines of HelloEval's section 5: one score from 0 to 10 for the text as a whole (LLM-Eval).

`checklist=true` lets the model write its own checklist before it scores (LLM-Eval with checklist).
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from judge_r1.core.checklist import OVERALL_BEST
from judge_r1.core.verdicts import InvalidVerdict, ScoresVerdict, Verdict
from judge_r1.episode.prompts import plain_prompt, template_hash
from judge_r1.episode.readable_json import readable_values
from judge_r1.judges.agentic import AgenticJudge
from judge_r1.judges.backend_spec import judge_of_backend, split_options
from judge_r1.judges.base import JUDGES, BadJudge, Closable, Judge, JudgeBuild, JudgeKind, JudgeOutput
from judge_r1.judges.checklist import checklist_config
from judge_r1.judges.checklist_task import ChecklistTask
from judge_r1.judges.request import CustomPrompt, JudgeRequest

STYLE, OWN_CHECKLIST = "llm-eval", "llm-eval_own-checklist"


class LLMEvalJudge:
    """Rates single texts through `judge`, which answers plain prompts. With `own_checklist` the model first writes what
    it checks."""

    def __init__(self, judge: Judge, *, own_checklist: bool) -> None:
        self._judge, self._asked = judge, OWN_CHECKLIST if own_checklist else ""
        self.name = judge.name
        wording = template_hash(f"{STYLE}_system", f"{STYLE}_user", *([self._asked] if self._asked else []))
        self.settings: dict[str, Any] = {**judge.settings, "prompt_hash": wording}

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        self._judge.check([self._shown(request) for request in requests])

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        given = {request.key: request for request in requests}
        async with aclosing(self._judge.judge([self._shown(request) for request in requests])) as outputs:  # type: ignore[type-var]
            async for output in outputs:
                yield output._replace(request=given[output.request.key])

    def close(self) -> None:
        if isinstance(self._judge, Closable):
            self._judge.close()

    def _shown(self, request: JudgeRequest) -> JudgeRequest:
        task, item = request.task, request.item
        if isinstance(task, ChecklistTask):
            fields = {"instruction": task.instruction, "response": task.response}
        elif len(request.order) == 1:
            fields = {"instruction": item.instruction, "response": item.texts[request.order[0]]}
        else:
            raise BadJudge(f"llm-eval rates one text, but item {item.item_id} shows {len(request.order)} candidates")
        return replace(request, task=CustomPrompt(plain_prompt(STYLE, fields, asked=self._asked), read_overall))


def read_overall(text: str) -> Verdict:
    """The `evaluation_score` of the last object of a reply, from 0 to 10; invalid as `no_answers` or `bad_score`."""
    found = [answer for answer in readable_values(text) if "evaluation_score" in answer]
    if not found:
        return InvalidVerdict(reason="no_answers")
    score = found[-1]["evaluation_score"]
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= OVERALL_BEST:
        return InvalidVerdict(reason="bad_score")
    return ScoresVerdict(scores=(float(score),))


def _make(build: JudgeBuild) -> Judge:
    build, own = split_options(build, ("checklist",))
    if own.get("checklist", "false") not in ("true", "false"):
        raise BadJudge(f"llm-eval: checklist is true or false, not {own['checklist']!r}")
    judge = judge_of_backend(build, STYLE, checklist_config, AgenticJudge, prompted=True)
    return LLMEvalJudge(judge, own_checklist=own.get("checklist") == "true")


JUDGES.register("llm-eval")(
    JudgeKind("rates one text as a whole from 0 to 10 (baseline of HelloEval); a model as for direct", _make)
)
