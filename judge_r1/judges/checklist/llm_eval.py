"""The baselines of HelloEval's section 5: one score from 0 to 10 for the text as a whole (LLM-Eval).

`checklist=true` lets the model write its own checklist before it scores (LLM-Eval with checklist).
"""

from dataclasses import replace

from judge_r1.episode.prompts import plain_prompt, template_hash
from judge_r1.judges.agentic import AgenticJudge
from judge_r1.judges.backend_spec import judge_of_backend, split_options
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind, JudgeWrapper
from judge_r1.judges.checklist.judge import checklist_config
from judge_r1.judges.checklist.task import ChecklistTask, read_overall
from judge_r1.judges.request import CustomPrompt, JudgeRequest

STYLE, OWN_CHECKLIST = "llm-eval", "llm-eval_own-checklist"


class LLMEvalJudge(JudgeWrapper):
    """Rates single texts through `judge`, which answers plain prompts. With `own_checklist` the model first writes what
    it checks."""

    def __init__(self, judge: Judge, *, own_checklist: bool) -> None:
        self._asked = OWN_CHECKLIST if own_checklist else ""
        wording = template_hash(f"{STYLE}_system", f"{STYLE}_user", *([self._asked] if self._asked else []))
        super().__init__(judge, {"prompt_hash": wording})

    def shown(self, request: JudgeRequest) -> JudgeRequest:
        task, item = request.task, request.item
        if isinstance(task, ChecklistTask):
            fields = {"instruction": task.instruction, "response": task.response}
        elif len(request.order) == 1:
            fields = {"instruction": item.instruction, "response": item.texts[request.order[0]]}
        else:
            raise BadJudge(f"llm-eval rates one text, but item {item.item_id} shows {len(request.order)} candidates")
        return replace(request, task=CustomPrompt(plain_prompt(STYLE, fields, asked=self._asked), read_overall))


def _make(build: JudgeBuild) -> Judge:
    build, own = split_options(build, ("checklist",))
    if own.get("checklist", "false") not in ("true", "false"):
        raise BadJudge(f"llm-eval: checklist is true or false, not {own['checklist']!r}")
    judge = judge_of_backend(build, STYLE, checklist_config, AgenticJudge, prompted=True)
    return LLMEvalJudge(judge, own_checklist=own.get("checklist") == "true")


JUDGES.register("llm-eval")(
    JudgeKind("rates one text as a whole from 0 to 10 (baseline of HelloEval); a model as for direct", _make)
)
