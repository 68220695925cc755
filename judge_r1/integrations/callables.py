"""Scorers in the forms of autoevals (also Braintrust's `Eval`) and openevals (also LangSmith's `evaluate`).

from judge_r1.integrations.callables import autoevals_scorer, openevals_evaluator

Eval("project", data=rows, task=answer, scores=[autoevals_scorer("http://127.0.0.1:8000")])
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from judge_r1.integrations.reference_judge import ReferenceJudge, ReferenceScore, text_of_value
from judge_r1.rewards.collector import JudgmentFailed

if TYPE_CHECKING:
    from autoevals import Scorer

NAME = "judge_r1"


def autoevals_scorer(judge: str = "http://127.0.0.1:8000") -> "Scorer":
    """Called with `output`, `expected` and optionally `input` and `context` (the case, which the judge may search). A
    failed judgment has the score None, which autoevals counts as skipped."""
    from autoevals import Score, Scorer

    compared = ReferenceJudge(judge)

    class Judged(Scorer):  # type: ignore[misc]
        def _name(self) -> str:
            return NAME

        def _run_eval_sync(self, output: Any, expected: Any = None, **more: Any) -> Any:
            return self._scored(compared.score_sync(*_texts(output, expected, more)))

        async def _run_eval_async(self, output: Any, expected: Any = None, **more: Any) -> Any:
            return self._scored(await compared.score(*_texts(output, expected, more)))

        def _scored(self, found: ReferenceScore) -> Any:
            return Score(name=NAME, score=found.value, metadata={"reason": found.reason, "judge": judge})

    return Judged()


def _texts(output: Any, expected: Any, more: Mapping[str, Any]) -> tuple[str, str, str, str]:
    question, context = text_of_value(more.get("input")), text_of_value(more.get("context"))
    return question, text_of_value(output), text_of_value(expected), context


def openevals_evaluator(judge: str = "http://127.0.0.1:8000") -> Callable[..., dict[str, Any]]:
    """Called with `inputs`, `outputs`, `reference_outputs` and optionally `context`. A failed judgment raises, since
    the form has no place for it: LangSmith records it as the evaluator's error."""
    compared = ReferenceJudge(judge)

    def evaluate(*, inputs: Any = "", outputs: Any, reference_outputs: Any, context: Any = "", **_: Any) -> Any:
        found = compared.score_sync(*map(text_of_value, (inputs, outputs, reference_outputs, context)))
        if found.value is None:
            raise JudgmentFailed(found.reason)
        return {"key": NAME, "score": found.value, "comment": found.reason, "metadata": {"judge": judge}}

    return evaluate
