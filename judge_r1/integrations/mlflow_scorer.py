"""A scorer for MLflow's evaluation of generative models.

from judge_r1.integrations.mlflow_scorer import judged

mlflow.genai.evaluate(data=rows, scorers=[judged("http://127.0.0.1:8000")])
"""

from typing import Any

from mlflow.entities import Feedback
from mlflow.genai.scorers import Scorer, scorer

from judge_r1.integrations.reference_judge import ReferenceJudge, text_of_value

REFERENCES = ("expected_response", "expected_output", "reference", "answer")
"""The expectations that hold the reference; the first one that a row has."""


def judged(judge: str = "http://127.0.0.1:8000", context: str | None = None) -> Scorer:
    """The probability that the output is better than the expected response: 1/2 if they are equally good. `context` is
    the key of the inputs with the case, which the judge may search. A failed judgment is a feedback with an error."""
    compared = ReferenceJudge(judge)

    @scorer(name="judge_r1")  # type: ignore[untyped-decorator]
    def score(inputs: dict[str, Any], outputs: Any, expectations: dict[str, Any]) -> Feedback:
        reference = next((text for name in REFERENCES if (text := text_of_value(expectations.get(name)))), "")
        case = text_of_value(inputs.get(context)) if context else ""
        asked = {name: value for name, value in inputs.items() if name != context}
        found = compared.score_sync(text_of_value(asked), text_of_value(outputs), reference, case)
        if found.value is None:
            return Feedback(name="judge_r1", error=ValueError(found.reason))
        return Feedback(name="judge_r1", value=found.value, rationale=found.reason)

    return score
