"""The metrics and scorers for deepeval, MLflow, autoevals and openevals, called by the real packages.

`make test-clients` has these packages; elsewhere the tests skip.
"""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fake_judge_endpoint import JudgeServer, chat_completion
from serving_fixture import LiveServer, service

from judge_r1.integrations.reference_judge import ReferenceJudge, text_of_value
from judge_r1.rewards.collector import JudgmentFailed

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "MLFLOW_DISABLE_TELEMETRY": "true", "LANGSMITH_TRACING": "false"}
BETTER, WORSE, REFERENCE = "a longer answer", "short", "two words"


@pytest.fixture
def failing() -> Any:
    """The SPEC of a judge that gives no verdict."""
    with JudgeServer(lambda path, body: chat_completion("no verdict")) as server:
        yield f"direct@{server.url}/v1#m"


def test_an_answer_is_compared_with_the_reference_in_both_orders(failing: str) -> None:
    longer, first = ReferenceJudge("longer"), ReferenceJudge("always-a")
    assert [longer.score_sync("q", answer, REFERENCE).value for answer in (BETTER, WORSE, "", REFERENCE)] == [
        1,
        0,
        0,
        0.5,
    ]
    assert first.score_sync("q", BETTER, REFERENCE).value == 0.5
    assert longer.score_sync("q", BETTER, " ") == (None, "there is no reference to compare with")
    value, reason = ReferenceJudge(failing).score_sync("q", BETTER, REFERENCE)
    assert (value, "rejected" in reason) == (None, True)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), ({"answer": None}, ""), (0, "0"), (False, "false"), ({"answer": "4"}, "4"), (["é"], '["é"]')],
)
def test_only_a_missing_value_has_no_text(value: Any, text: str) -> None:
    assert text_of_value(value) == text


def test_openevals_does_not_judge_the_word_none() -> None:
    from judge_r1.integrations.callables import openevals_evaluator

    evaluator = openevals_evaluator("longer")
    assert evaluator(inputs={"q": "2 - 2?"}, outputs=None, reference_outputs="4")["score"] == 0.0
    assert evaluator(inputs=None, outputs=0, reference_outputs="7")["score"] == 0.5
    with pytest.raises(JudgmentFailed, match="there is no reference"):
        evaluator(inputs="q", outputs="4", reference_outputs=None)


def test_one_judge_serves_threads_and_several_event_loops() -> None:
    with LiveServer(service("longer")) as server:
        judge = ReferenceJudge(server.url)

        async def several() -> list[float | None]:
            return [one.value for one in await asyncio.gather(*(judge.score("q", BETTER, REFERENCE) for _ in range(5)))]

        assert asyncio.run(several()) == asyncio.run(several()) == [1.0] * 5
        assert judge.score_sync("q", WORSE, REFERENCE).value == 0.0


def test_deepeval_scores_test_cases_and_records_a_failed_judgment_as_an_error(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # deepeval keeps the latest run in the folder
    deepeval = pytest.importorskip("deepeval", reason="deepeval is in the extra clients")
    from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
    from deepeval.test_case import LLMTestCase

    from judge_r1.integrations.deepeval_metric import JudgeMetric

    cases = [LLMTestCase(input="q", actual_output=text, expected_output=REFERENCE) for text in (BETTER, WORSE)]
    quiet: dict[str, Any] = {
        "display_config": DisplayConfig(show_indicator=False, print_results=False),
        "cache_config": CacheConfig(write_cache=False),
        "error_config": ErrorConfig(ignore_errors=True),
    }
    for run_async in (True, False):
        found = deepeval.evaluate(
            cases, [JudgeMetric("longer")], async_config=AsyncConfig(run_async=run_async), **quiet
        )
        scores = {result.input + str(result.actual_output): result.metrics_data[0] for result in found.test_results}
        assert [scores[f"q{text}"].score for text in (BETTER, WORSE)] == [1.0, 0.0]
        assert [scores[f"q{text}"].success for text in (BETTER, WORSE)] == [True, False]
        [failed] = deepeval.evaluate(cases[:1], [JudgeMetric(failing)], **quiet).test_results
        assert (failed.metrics_data[0].score, "rejected" in failed.metrics_data[0].error) == (None, True)


def test_mlflow_gets_feedback_or_an_error(failing: str) -> None:
    pytest.importorskip("mlflow.genai.scorers", reason="mlflow-skinny is in the extra clients")
    from judge_r1.integrations.mlflow_scorer import judged

    row: dict[str, Any] = {"inputs": {"question": "q"}, "expectations": {"expected_response": REFERENCE}}
    good, bad = (judged("longer").run(outputs=text, **row) for text in (BETTER, WORSE))
    assert [(one.name, one.value, one.error) for one in (good, bad)] == [
        ("judge_r1", 1.0, None),
        ("judge_r1", 0.0, None),
    ]
    failed = judged(failing).run(outputs=BETTER, **row)
    assert (failed.value, "rejected" in failed.error.error_message) == (None, True)
    expected: dict[str, Any] = {"inputs": {"question": "q"}, "expectations": {"expected_response": 0}}
    assert [judged("longer").run(outputs=value, **expected).value for value in (0, None)] == [0.5, 0.0]
    absent = judged("longer").run(outputs="4", inputs={"question": "q"}, expectations={"expected_response": None})
    assert "there is no reference" in absent.error.error_message


@pytest.mark.slow
def test_an_evaluation_of_mlflow_has_the_scores_of_its_rows(failing: str, tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow", reason="mlflow is in the extra clients")
    from judge_r1.integrations.mlflow_scorer import judged

    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    expected = {"expected_response": REFERENCE}
    rows = [{"inputs": {"question": "q"}, "outputs": text, "expectations": expected} for text in (BETTER, WORSE)]
    assert mlflow.genai.evaluate(data=rows, scorers=[judged("longer")]).metrics == {"judge_r1/mean": 0.5}
    failed = mlflow.genai.evaluate(data=rows[:1], scorers=[judged(failing)])
    assert failed.metrics == {}
    assert "rejected" in str(failed.result_df.iloc[0]["assessments"])


def test_mlflow_shows_the_case_to_the_judge() -> None:
    pytest.importorskip("mlflow.genai.scorers", reason="mlflow-skinny is in the extra clients")
    from judge_r1.integrations.mlflow_scorer import judged

    with JudgeServer(
        lambda path, body: chat_completion('<answer>{"comparison": "A>B", "violated_principles": [1]}</answer>')
    ) as server:
        scored = judged(f"direct@{server.url}/v1#m", context="case").run(
            inputs={"question": "Who paid?", "case": "Ana paid 34 crowns."},
            outputs="Ana.",
            expectations={"answer": "Ben."},
        )
        shown = str(server.bodies[0])
    assert scored.value == 0.5
    assert "Ana paid 34 crowns." in shown
    assert "Who paid?" in shown


def test_a_process_that_ends_leaves_no_connection_open() -> None:
    """aiohttp says on standard error what was not closed."""
    code = (
        "import sys; from judge_r1.integrations.reference_judge import ReferenceJudge\n"
        "print(ReferenceJudge(sys.argv[1]).score_sync('q', 'a longer answer', 'two words').value)"
    )
    with JudgeServer(lambda path, body: chat_completion('{"comparison": "A>B", "violated_principles": [1]}')) as server:
        spec = f"direct@{server.url}/v1#m"
        done = subprocess.run([sys.executable, "-c", code, spec], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0.5\n", "")


def test_autoevals_scores_and_skips_a_failed_judgment(failing: str) -> None:
    autoevals = pytest.importorskip("autoevals", reason="autoevals is in the extra clients")
    from judge_r1.integrations.callables import autoevals_scorer

    scorer = autoevals_scorer("longer")
    assert isinstance(scorer, autoevals.Scorer)
    assert [scorer(output=text, expected=REFERENCE, input="q").score for text in (BETTER, WORSE)] == [1.0, 0.0]
    assert asyncio.run(scorer.eval_async(BETTER, REFERENCE)).as_dict()["name"] == "judge_r1"
    assert [scorer(output=value, expected="7", input="q").score for value in (0, None)] == [0.5, 0.0]
    assert scorer(output="4", expected=None, input="q").score is None
    failed = autoevals_scorer(failing)(output=BETTER, expected=REFERENCE, input="q")
    assert (failed.score, "rejected" in failed.metadata["reason"]) == (None, True)


def test_judgments_of_autoevals_run_at_the_same_time() -> None:
    """autoevals 0.4.1: its own `_run_eval_async` calls the synchronous form, which blocks the loop."""
    pytest.importorskip("autoevals", reason="autoevals is in the extra clients")
    from judge_r1.integrations.callables import autoevals_scorer

    def slowly(path: str, body: Any) -> Any:
        time.sleep(0.5)
        return chat_completion('{"comparison": "A>B", "violated_principles": [1]}')

    async def four(scorer: Any) -> float:
        started = time.monotonic()
        await asyncio.gather(*(scorer.eval_async(f"{BETTER} {n}", REFERENCE) for n in range(4)))
        return time.monotonic() - started

    with JudgeServer(slowly) as server:
        assert asyncio.run(four(autoevals_scorer(f"direct@{server.url}/v1#m"))) < 2  # eight requests of half a second


def test_openevals_results_have_its_form_and_a_failed_judgment_raises(failing: str) -> None:
    openevals = pytest.importorskip("openevals", reason="openevals is in the extra clients")
    from judge_r1.integrations.callables import openevals_evaluator

    evaluator = openevals_evaluator("longer")
    call: dict[str, Any] = {"inputs": "q", "outputs": BETTER, "reference_outputs": REFERENCE}
    assert evaluator(**call)["score"] == 1.0
    exact = openevals.exact_match(outputs=BETTER, reference_outputs=REFERENCE)
    assert evaluator(**call).keys() == exact.keys() - {"source_run_id"}
    with pytest.raises(JudgmentFailed, match="rejected"):
        openevals_evaluator(failing)(**call)
