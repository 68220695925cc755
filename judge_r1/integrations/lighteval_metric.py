"""A judge metric for lighteval's custom tasks.

from judge_r1.integrations.lighteval_metric import judged

task = LightevalTaskConfig(..., metrics=[judged("http://127.0.0.1:8000")])
"""

from typing import Any

import numpy as np
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetric
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc, SamplingMethod

from judge_r1.integrations.reference_judge import ReferenceJudge, best


class _Judged(SampleLevelComputation):  # type: ignore[misc]
    """Keeps the SPEC alone as an attribute: lighteval prints all of them."""

    def __init__(self, judge: str) -> None:
        self.judge, self._score = judge, ReferenceJudge(judge).score_sync

    def compute(self, doc: Doc, model_response: ModelResponse, **_: Any) -> float:
        answer = model_response.final_text[0] if model_response.final_text else ""
        return best([self._score(doc.query, answer, str(gold)).value for gold in doc.get_golds()])


def judged(judge: str = "http://127.0.0.1:8000") -> SampleLevelMetric:
    """The probability that the answer is better than the gold: 1/2 if they are equally good; of several golds, the best
    value counts. A failed judgment is NaN, which the mean leaves out."""
    return SampleLevelMetric(
        metric_name="judge_r1",
        higher_is_better=True,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=_Judged(judge),
        # Not `mean`, to which one failed judgment would give the whole corpus.
        corpus_level_fn=np.nanmean,
        batched_compute=False,
    )
