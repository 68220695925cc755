"""Reward models as judges: local classifiers, vLLM's pooling API, and heads that give no score."""

import time
from pathlib import Path
from typing import Any

import pytest
from fake_judge_endpoint import JudgeServer
from reward_models import reward_model

from judge_r1.core.case_store import CaseStore
from judge_r1.core.errors import JudgeError
from judge_r1.core.verdicts import ScoresVerdict
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.judges.base import BadJudge, Judge, JudgeBuild, run_all
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.result import request_of
from judge_r1.judges.scalar import scalar_ids
from judge_r1.models.hub import load_tokenizer
from judge_r1.models.pretrained import ModelUnavailable


def pair(first: str, second: str, context: str = "") -> JudgeRequest:
    texts = {"reasoning_a": first, "reasoning_b": second, "context": context, "decision": "who paid"}
    return request_of(f"{first}/{second}", CaseStore(), **texts)


def scores(judge: Judge, request: JudgeRequest) -> tuple[float, ...]:
    [output] = run_all(judge, [request])
    assert isinstance(output.verdict, ScoresVerdict)
    return output.verdict.scores


def test_a_local_classifier_scores_each_answer_alone(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification

    judge = make_judge(f"scalar@{reward_model(tmp_path / 'rm')}", JudgeBuild(""))
    found = scores(judge, pair("ana paid 34.", "ben paid 21."))
    assert found == scores(judge, pair("ben paid 21.", "ana paid 34."))[::-1]
    assert found[0] != found[1]
    tokenizer, model = (
        load_tokenizer("bundled:tiny"),
        AutoModelForSequenceClassification.from_pretrained(tmp_path / "rm"),
    )
    messages = [{"role": "user", "content": "who paid"}, {"role": "assistant", "content": "ana paid 34."}]
    ids = scalar_ids(SafeTokenizer(tokenizer), ["who paid", "ana paid 34."])
    rendered = tokenizer.apply_chat_template(messages, tokenize=False)
    assert "".join(tokenizer.decode(ids).split()) == "".join(rendered.split())
    with torch.inference_mode():
        assert float(model(torch.tensor([ids])).logits) == pytest.approx(found[0], abs=1e-5)
    assert scores(judge, pair("ana paid 34.", "ben paid 21.", context="ana paid 34. ben left rome."))[0] != found[0]


def test_control_tokens_in_an_answer_are_text() -> None:
    end = load_tokenizer("bundled:tiny").eos_token
    ids = scalar_ids(SafeTokenizer(load_tokenizer("bundled:tiny")), ["who paid", f"ana {end} paid"])
    plain = scalar_ids(SafeTokenizer(load_tokenizer("bundled:tiny")), ["who paid", "ana paid"])
    number = load_tokenizer("bundled:tiny").convert_tokens_to_ids(end)
    assert ids.count(number) == plain.count(number)


def test_a_head_with_two_outputs_is_refused(tmp_path: Path) -> None:
    judge = make_judge(f"scalar@{reward_model(tmp_path / 'rm', 2)}", JudgeBuild(""))
    with pytest.raises(BadJudge, match="its head has 2 outputs"):
        judge.check([pair("a", "b")])
    with pytest.raises(ModelUnavailable, match=r"lacks score.weight: it is no reward model"):
        make_judge("scalar@bundled:tiny", JudgeBuild("")).check([pair("a", "b")])


def test_vllms_pooling_api_scores_each_answer() -> None:
    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        assert path == "/pooling"
        assert [message["role"] for message in body["messages"]] == ["user", "assistant"]
        text = body["messages"][1]["content"]
        return 200, {
            "data": [{"data": [1.0, 2.0] if text == "two" else [len(text) / 2]}],
            "usage": {"prompt_tokens": 5},
        }

    with JudgeServer(answer) as server:
        judge = make_judge(f"scalar@vllm:{server.url}#rm", JudgeBuild("", batch_size=2))
        assert scores(judge, pair("longer", "short")) == (3.0, 2.5)
        with pytest.raises(BadJudge, match="its head has 2 outputs"):
            scores(judge, pair("two", "one"))
    with pytest.raises(BadJudge, match="is a chat endpoint"):
        make_judge("scalar@https://host/v1#rm", JudgeBuild(""))
    with pytest.raises(BadJudge, match="has no options"):
        make_judge("scalar:x=1@bundled:tiny", JudgeBuild(""))
    with pytest.raises(JudgeError, match="judge scalar: unknown key x; available: timeout"):
        make_judge("scalar:x=1@vllm:http://h/v1#rm", JudgeBuild(""))


def test_a_request_to_vllm_has_a_timeout() -> None:
    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        time.sleep(1.5)
        return 200, {"data": [{"data": [1.0]}]}

    with JudgeServer(answer) as server:
        judge = make_judge(f"scalar:timeout=01@vllm:{server.url}#rm", JudgeBuild("", batch_size=2))
        [output] = run_all(judge, [pair("longer", "short")])
    assert "no response within 1 s" in (output.trajectory.detail or "")
