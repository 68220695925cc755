"""A judge plugin for verifiers: our judge compares the last reply of a rollout with the reference of its task.

--env.taskset.task.judges '[{"id": "judge-r1-env", "judge": "http://127.0.0.1:8000"}]'

A failed judgment raises, so that verifiers records an error or retries the rollout: it is never a reward.
"""

import verifiers.v1 as vf
from verifiers.v1.judge import JudgeView, judge_question, judge_response

from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import GENERAL
from judge_r1.integrations.reference_judge import shared_reference_judge
from judge_r1.rewards.collector import JudgmentFailed


class JudgeR1Config(vf.JudgeConfig):  # type: ignore[misc]
    id: str = "judge-r1-env"
    judge: str
    """A SPEC, or the URL of `judge-r1 serve`."""
    answer_field: str = "answer"
    """The field of the task with the reference."""
    question_field: str = ""
    """The field with the question; by default the prompt."""
    context_field: str = ""
    """The field with the text of the case that the judge may search."""
    domain: str = GENERAL
    view: JudgeView = "last_reply"


class JudgeR1(vf.Judge[float, JudgeR1Config]):  # type: ignore[misc]
    async def score(self, task: vf.TaskData, trace: vf.Trace) -> float:
        """P(the reply is better than the reference), over both orders; 0 without a reply.

        Raises:
            JudgmentFailed: The judge gave no valid answer.
        """
        config, answer = self.config, judge_response(trace, self.config.view)
        reference = getattr(task, config.answer_field, None)
        if not reference:
            raise JudgeError(f"the task has no {config.answer_field!r} to compare with: set answer_field")
        question, context = judge_question(task, config.question_field), config.context_field
        found = await shared_reference_judge(config.judge).score(
            question, answer, str(reference), getattr(task, context) if context else "", config.domain
        )
        if found.value is None:
            raise JudgmentFailed(f"a reply has no judgment: {found.reason}")
        return found.value
