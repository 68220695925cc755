"""A scorer for MLflow's evaluation of generative models.

from judge_r1.integrations.mlflow_scorer import judged

mlflow.genai.evaluate(data=rows, scorers=[judged("http://127.0.0.1:8000")])
"""

import json
from typing import Any

from mlflow.entities import Feedback
from mlflow.genai.scorers import Scorer, scorer

from judge_r1.integrations.reference_judge import ReferenceJudge

REFERENCES = ("expected_response", "expected_output", "reference", "answer")
"""The expectations that hold the reference; the first one that a row has."""


def judged(judge: str = "http://127.0.0.1:8000", context: str | None = None) -> Scorer:
    """The probability that the output is better than the expected response: 1/2 if they are equally good. `context` is
    the key of the inputs with the case, which the judge may search. A failed judgment is a feedback with an error."""
    compared = ReferenceJudge(judge)

    @scorer(name="judge_r1")  # type: ignore[untyped-decorator]
    def score(inputs: dict[str, Any], outputs: Any, expectations: dict[str, Any]) -> Feedback:
        reference = next((expectations[name] for name in REFERENCES if expectations.get(name)), "")
        case = str(inputs.get(context, "")) if context else ""
        asked = {name: value for name, value in inputs.items() if name != context}
        found = compared.score_sync(_text(asked), _text(outputs), _text(reference), case)
        if found.value is None:
            return Feedback(name="judge_r1", error=ValueError(found.reason))
        return Feedback(name="judge_r1", value=found.value, rationale=found.reason)

    return score


def _text(value: Any) -> str:
    """A text as it is, the value of a mapping with one key, and JSON of anything else."""
    if isinstance(value, dict) and len(value) == 1:
        [value] = value.values()
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
