"""lighteval's metrics: ours, and its own judges on `/v1/chat/completions`. `make test-clients` has the package."""

import math
from typing import Any

import pytest
from fake_judge_endpoint import JudgeServer, chat_completion
from serving_fixture import LiveServer, service

from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import served_judge

pytest.importorskip("lighteval", reason="lighteval is in the extra clients")


def doc(gold: Any = "two words") -> Any:
    from lighteval.tasks.requests import Doc

    golds = [gold] if isinstance(gold, str) else gold
    return Doc(query="q", choices=golds, gold_index=list(range(len(golds))), task_name="t")


def response(text: str) -> Any:
    from lighteval.models.model_output import ModelResponse

    return ModelResponse(text=[text])


def test_the_metric_compares_with_the_golds_and_a_failed_judgment_is_left_out_of_the_mean() -> None:
    from judge_r1.integrations.lighteval_metric import judged

    metric = judged("longer")
    values = [metric.compute_sample(doc=doc(), model_response=response(text)) for text in ("three words now", "one")]
    assert values == [{"judge_r1": 1.0}, {"judge_r1": 0.0}]
    assert metric.compute_sample(doc=doc(["a b c d", "a"]), model_response=response("a b")) == {"judge_r1": 1.0}
    with JudgeServer(lambda path, body: chat_completion("no verdict")) as server:
        failed = judged(f"direct@{server.url}/v1#m").compute_sample(doc=doc(), model_response=response("x"))["judge_r1"]
    assert math.isnan(failed)
    with_blank = metric.compute_sample(doc=doc(["a", " "]), model_response=response("a b"))["judge_r1"]
    assert with_blank == 1.0, "a missing score changes nothing"
    assert metric.get_corpus_aggregations()["judge_r1"]([1.0, 0.0, failed]) == 0.5
    assert "longer" in str(metric.sample_level_fn)


@pytest.mark.parametrize(
    ("kind", "reply", "value"),
    [
        ("simpleqa", "A", 1.0), ("simpleqa", '"B".', 0.0),
        ("mt_bench", "<feedback>so</feedback><score>4</score>", 4), ("mt_bench", "<score>\n2\n</score>", 2),
    ],
)  # fmt: skip
def test_its_own_judges_read_the_answers_of_the_chat_route(
    kind: str, reply: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    from lighteval.metrics.utils.judge_utils import get_judge_prompt_simpleqa, process_judge_response_simpleqa
    from lighteval.metrics.utils.llm_as_judge import JudgeLM
    from lighteval.tasks.tasks.mt_bench.judge_prompt_templates import flow_judge_prompt_mt_bench_without_ref
    from lighteval.tasks.tasks.mt_bench.main import process_judge_response

    template, read = {
        "simpleqa": (get_judge_prompt_simpleqa, process_judge_response_simpleqa),
        "mt_bench": (flow_judge_prompt_mt_bench_without_ref, process_judge_response),
    }[kind]
    with JudgeServer(lambda path, body: chat_completion(reply)) as model:
        judge = served_judge(f"direct@{model.url}/v1#m", JudgeBuild("", batch_size=4))
        with LiveServer(service(judge)) as server:
            asked = JudgeLM("judge-r1", template, read, "openai", url=f"{server.url}/v1")
            scores, *_ = asked.evaluate_answer_batch(["q"], ["an answer"], [None], ["gold"])
    assert scores == [value]
