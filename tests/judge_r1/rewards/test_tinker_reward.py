"""Groups of tinker-cookbook, scored by our judge in its own rollout of a group."""

import asyncio
import pickle
from pathlib import Path
from typing import Any

import pytest
from failing_judge import FailsOn
from serving_fixture import LiveServer, service

from judge_r1.rewards.collector import JudgmentFailed

pytest.importorskip("tinker_cookbook", reason="tinker-cookbook is not installed: pip install 'judge-r1[tinker]'")


@pytest.fixture(scope="module")
def renderer(model_folder: Path) -> Any:
    from tinker_cookbook.renderers import get_renderer
    from tinker_cookbook.tokenizer_utils import get_tokenizer

    return get_renderer("role_colon", get_tokenizer(str(model_folder)))


def run(renderer: Any, replies: list[str], judge: str, **more: Any) -> Any:
    from tinker_cookbook.completers import TokenCompleter, TokensWithLogprobs
    from tinker_cookbook.rl.rollouts import do_group_rollout

    from judge_r1.rewards.tinker import JudgedGroup

    class Says(TokenCompleter):  # type: ignore[misc]
        async def __call__(self, model_input: Any, stop: Any, *, max_tokens: int | None = None) -> Any:
            return TokensWithLogprobs(renderer.tokenizer.encode(left.pop(0), add_special_tokens=False), None)

    left = list(replies)
    group = JudgedGroup([{"role": "user", "content": "who paid"}], renderer, len(replies), judge, **more)
    return asyncio.run(do_group_rollout(group, Says()))


@pytest.mark.parametrize("schedule", ["circular", "swiss", "all_pairs"])
def test_replies_to_one_prompt_compete(renderer: Any, schedule: str) -> None:
    found = run(renderer, ["ana paid 34 to ben", "ana", "ana paid", "ana paid 34"], "longer", schedule=schedule)
    rewards = found.get_total_rewards()
    assert rewards[0] == max(rewards)
    assert rewards[1] == min(rewards)
    assert sum(rewards) == pytest.approx(2)
    assert [metrics["judge/failure_rate"] for metrics in found.metrics_G] == [0.0] * 4


def test_a_failed_judgment_is_no_reward(renderer: Any) -> None:
    with (
        LiveServer(service(FailsOn("broken", "no_answer"))) as server,
        pytest.raises(JudgmentFailed, match="no_answer"),
    ):
        run(renderer, ["ana paid", "ana", "broken"], server.url, schedule="all_pairs")


def test_a_group_can_be_pickled(renderer: Any) -> None:
    from judge_r1.rewards.tinker import JudgedGroup

    group = JudgedGroup([{"role": "user", "content": "who paid"}], renderer, 2, "longer", reference="ana")
    assert pickle.loads(pickle.dumps(group)).judge == "longer"
