"""The likelihood judge: the sign of two logits, against the log-probabilities of the two answers themselves."""

from dataclasses import replace

import pytest

from judge_r1.benchmarks.base import LoadedBenchmark, both_orders
from judge_r1.core.items import Item
from judge_r1.episode.rollout import task_episode
from judge_r1.episode.task import PairwiseTask
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.judges.base import BadJudge, JudgeBuild, run_all
from judge_r1.judges.likelihood import ANSWERS
from judge_r1.judges.panel import make_judge
from judge_r1.models.hub import load_model, load_tokenizer

ITEMS = [
    Item(
        item_id=str(n),
        cluster_id=str(n),
        instruction=f"Which number is larger, {n} or {n + 1}?",
        candidates=(f"It is {n}.", f"It is {n + 1}."),
        gold="B",
    )
    for n in range(4)
]
SUITE = LoadedBenchmark(ITEMS, presentation_orders=both_orders)
SPEC = "likelihood:prompt_tokens=800,budget.response_tokens=40@bundled:tiny"


def test_it_prefers_the_likelier_answer_with_that_confidence() -> None:
    import torch

    judge = make_judge(SPEC, JudgeBuild(""))
    model, tokenizer = load_model("bundled:tiny").eval(), SafeTokenizer(load_tokenizer("bundled:tiny"))
    for output in run_all(judge, SUITE.requests()):
        task = output.request.task
        assert isinstance(task, PairwiseTask)
        prompt = task_episode(task, judge._factory.config, tokenizer, (), where="").prompt_ids
        answers = [tokenizer.encode_trusted(answer) for answer in ANSWERS]
        scores = []
        for ids in answers:
            with torch.no_grad():
                logits = model(torch.tensor([[*prompt, *ids]])).logits[0].log_softmax(-1)
            at = next(n for n, (a, b) in enumerate(zip(*answers, strict=False)) if a != b)
            scores.append(float(logits[len(prompt) + at - 1, ids[at]]))
        assert output.trajectory.judgment is not None
        assert output.trajectory.judgment.comparison == ("A>B" if scores[0] >= scores[1] else "A<B")
        both = torch.tensor(scores).softmax(0).max().item()
        assert output.confidence == pytest.approx(both, abs=1e-4)


def test_what_does_not_fit_is_an_invalid_answer_by_name() -> None:
    judge = make_judge(SPEC, JudgeBuild(""))
    long = replace(SUITE, items=[*ITEMS, ITEMS[0].model_copy(update={"item_id": "x", "instruction": "word " * 900})])
    ended = [output.trajectory.ended for output in run_all(judge, long.requests())]
    assert ended == ["answer"] * 8 + ["prompt_too_long"] * 2


def test_an_endpoint_shows_no_logits() -> None:
    with pytest.raises(BadJudge, match="the model must be local"):
        make_judge("likelihood@https://host/v1#model", JudgeBuild(""))
