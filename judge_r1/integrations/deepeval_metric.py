"""A metric for deepeval: a judge compares the actual output of a test case with the expected one.

from judge_r1.integrations.deepeval_metric import JudgeMetric

evaluate(test_cases, [JudgeMetric("http://127.0.0.1:8000")])
"""

from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase, SingleTurnParams

from judge_r1.integrations.reference_judge import ReferenceScore, shared_reference_judge
from judge_r1.rewards.collector import JudgmentFailed


class JudgeMetric(BaseMetric):  # type: ignore[misc]
    """The probability that the actual output is better than the expected one: 1/2 if they are equally good. The judge
    may search the `context` of the test case. A failed judgment raises, which deepeval records as the metric's error
    (`ErrorConfig(ignore_errors=True)`) or ends the run with."""

    _required_params = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.EXPECTED_OUTPUT]  # noqa: RUF012

    # deepeval builds a metric anew for each test case, from the attributes with the names of these parameters
    def __init__(self, judge: str = "http://127.0.0.1:8000", threshold: float = 0.5) -> None:
        self.judge, self.threshold, self.evaluation_model = judge, threshold, judge
        self.async_mode, self.include_reason = True, True

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        return self._take(shared_reference_judge(self.judge).score_sync(*_texts(test_case)))

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        return self._take(await shared_reference_judge(self.judge).score(*_texts(test_case)))

    def is_successful(self) -> bool:
        self.success = self.score is not None and self.score >= (self.threshold or 0.0)
        return self.success

    @property
    def __name__(self) -> str:
        return "judge_r1"

    def _take(self, found: ReferenceScore) -> float:
        self.score, self.reason, self.error = found.value, found.reason, None
        if found.value is None:
            self.success, self.error = False, found.reason
            raise JudgmentFailed(found.reason)
        self.is_successful()
        return found.value


def _texts(test_case: LLMTestCase) -> tuple[str, str, str, str]:
    context = "\n\n".join(map(str, test_case.context or ()))
    return str(test_case.input), str(test_case.actual_output or ""), str(test_case.expected_output or ""), context
