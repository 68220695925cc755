"""verl's trainer with our group reward manager: a sample without a judgment is left out, and the run goes on."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from failing_judge import FailsOn
from serving_fixture import LiveServer, service

from judge_r1.core.record_base import content_hash
from judge_r1.rewards.pair_judge import Question
from judge_r1.training.recipe import Recipe
from judge_r1.training.verl.config import _text, overrides
from judge_r1.training.verl.runner import verl_variables

MANAGER = {
    "reward.reward_manager.source": "importlib",
    "reward.reward_manager.module.path": "pkg://judge_r1.rewards.verl",
    "reward.reward_manager.name": "GroupRewardManager",
}


def one_in_four(text: str) -> bool:
    return int(content_hash(text), 16) % 4 == 0


def write_prompts(path: Path) -> None:
    import pyarrow as pa
    from pyarrow.parquet import write_table

    rows: list[dict[str, Any]] = [
        {
            "data_source": "test",
            "prompt": [{"role": "user", "content": f"who paid {number}"}],
            "reward_model": {"style": "rule", "ground_truth": "nobody"},
            "extra_info": {"index": number},
        }
        for number in range(4)
    ]
    write_table(pa.Table.from_pylist(rows), path)


def test_samples_of_a_watched_group_have_its_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    from judge_r1.rewards.verl import GroupActor

    async def joined(actor: GroupActor) -> list[dict[str, Any]]:
        key = ("uid", Question("q"), None)
        return await asyncio.gather(*(actor.join(key, text, 3, 60.0) for text in ("a", "b c", "d e f")))

    alone = asyncio.run(joined(GroupActor({"judge": "longer", "schedule": "all_pairs"})))
    assert not any("watch" in name for found in alone for name in found)
    watched = {"judge": "longer", "schedule": "all_pairs", "watch": "always-a|longer", "watch_share": 1}
    found = asyncio.run(joined(GroupActor(dict(watched))))
    assert [one["score"] for one in found] == [one["score"] for one in alone]
    counts = {"judge_watch_compared": 3, "judge_watch_same": 3, "judge_watch_failed": 0}
    assert all(counts.items() <= one.items() for one in found)

    async def out_of_memory(*_: Any) -> Any:
        raise RuntimeError("out of memory")

    broken = GroupActor(watched)
    monkeypatch.setattr(broken._watch._judge._judge, "compare", out_of_memory)  # type: ignore[union-attr]
    left = asyncio.run(joined(broken))
    assert [(one["score"], one["judge_watch_failed"]) for one in left] == [(one["score"], 6) for one in found]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_verl_trains_two_steps_on_groups(recipe: Recipe, model_folder: Path, tmp_path: Path) -> None:
    write_prompts(tmp_path / "train.parquet")
    keys = overrides(
        recipe.model_copy(update={"model": str(model_folder)}),
        train_parquet=tmp_path / "train.parquet", agent_loops=tmp_path, checkpoints=tmp_path / "checkpoints", cpu=True,
    )  # fmt: skip
    ours = ("reward.", "actor_rollout_ref.rollout.agent.", "algorithm.adv_estimator", "data.max_response_length")
    with LiveServer(service(FailsOn(one_in_four, "no_answer"))) as server:
        more = MANAGER | {
            "algorithm.adv_estimator": "grpo", "data.max_response_length": 8, "reward.num_workers": 2,
            "trainer.v1.sampler.sync_refill_failed_groups": True, "data.gen_batch_size": 1,
            "actor_rollout_ref.rollout.agent.num_workers": 1, "+reward.reward_kwargs.judge": server.url,
            "+reward.reward_kwargs.watch": "random", "+reward.reward_kwargs.watch_share": 1,
        }  # fmt: skip
        keys = [key for key in keys if not key.startswith(ours)] + [f"{key}={_text(more[key])}" for key in more]
        command = [sys.executable, "-m", "verl.trainer.main_ppo", *keys]
        done = subprocess.run(
            command, env=os.environ | verl_variables(tmp_path, True), cwd=tmp_path, capture_output=True, text=True,
            timeout=1700,
        )  # fmt: skip
    log = done.stdout + done.stderr
    assert done.returncode == 0, log[-4000:]
    assert "JudgmentFailed: no_answer" in log
    lines = (tmp_path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row["data"] for line in lines if "critic/score/mean" in (row := json.loads(line))["data"]]
    assert [row["training/global_step"] for row in rows] == [1, 2]
    for row in rows:  # a sample without a judgment is left out: as the score 0 it would lower the mean
        assert row["critic/score/mean"] == pytest.approx(0.5, abs=1e-6)
        assert row["actor/grad_norm"] > 0
