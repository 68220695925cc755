"""GroupReward: groups, failures, logs, and three steps of TRL's trainer."""

import asyncio
import os
import select
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from failing_judge import FailsOn
from serving_fixture import LiveServer, service

from judge_r1.core.errors import JudgeError
from judge_r1.rewards.trl import GroupReward


def call(reward: GroupReward, *arguments: Any, **columns: Any) -> tuple[list[float | None], dict[str, Any]]:
    logged: dict[str, Any] = {}
    found = asyncio.run(
        reward(*arguments, log_metric=logged.__setitem__, log_extra=logged.__setitem__, trainer_state=None, **columns)
    )
    return found, logged


def once(reward: GroupReward) -> None:
    """Requests that fail are not sent again."""
    for client in reward._judge._judge._clients:  # type: ignore[attr-defined]
        client._attempts = 1


def test_completions_of_one_prompt_compete() -> None:
    reward = GroupReward("longer", schedule="all_pairs")
    found, logged = call(reward, ["p", "q", "p", "q"], ["a b", "x", "a", "y z"], completion_ids=[[1]] * 4)
    assert found == [found[3], found[1], found[1], found[3]]
    assert found[0] is not None
    assert found[0] > 0.5 > found[1]  # type: ignore[operator]
    assert logged == {
        "judge/failure_rate": 0.0, "judge/unscored": 0.0, "judge/comparisons": 4.0, "judge_failure": [""] * 4,
    }  # fmt: skip
    chats = [[{"role": "user", "content": "p"}]] * 2
    blank, _ = call(reward, chats, [[{"role": "assistant", "content": text}] for text in ("", "a b c")])
    assert blank == [found[1], found[0]]
    reward.close()


def test_equal_prompts_about_other_cases_are_other_groups() -> None:
    reward = GroupReward("evidence", context="case", reference="gold", schedule="anchor")
    columns = {"case": ["red fox", "red fox", "blue owl"], "gold": ["red fox", "red fox", "blue owl"]}
    found, logged = call(reward, ["p"] * 3, ["red fox", "blue owl", "blue owl"], **columns)
    assert found[0] == pytest.approx(0.5)
    assert found[2] == pytest.approx(0.5)
    assert found[1] < 0.5  # type: ignore[operator]
    assert logged["judge/comparisons"] == 6
    reward.close()
    reward = GroupReward("longer", context="case", reference="gold", schedule="anchor")
    _, logged = call(reward, ["p"] * 3, ["a", "b", "c"], case=[""] * 3, gold=[" "] * 3)
    assert logged["judge/comparisons"] == 4, "without a reference, each meets the best so far"
    with pytest.raises(KeyError, match="the dataset has no column 'case'"):
        call(reward, ["p"], ["x"])
    with pytest.raises(ValueError, match="use schedule='anchor'"):
        GroupReward("longer", reference="gold")
    reward.close()


def test_a_failed_judgment_is_none_with_a_reason() -> None:
    with LiveServer(service(FailsOn("broken"))) as server:
        reward = GroupReward(server.url, schedule="all_pairs")
        once(reward)
        found, logged = call(reward, ["p"] * 4, ["one", "one two", "broken", "a b c"])
        reward.close()
    assert [score is None for score in found] == [False, False, True, False]
    assert [bool(reason) for reason in logged["judge_failure"]] == [False, False, True, False]
    assert logged["judge/failure_rate"] == pytest.approx(0.5)
    assert logged["judge/unscored"] == 0.25


def test_a_batch_without_any_judgment_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with LiveServer(service("longer")) as server:
        reward = GroupReward(server.url)
    once(reward)
    assert call(reward, ["p"] * 2, ["one", "two"])[0] == [None, None]
    reward.close()
    assert "none of 2 comparisons has a judgment: 127.0.0.1" in caplog.text


def test_without_a_server_the_reward_cannot_be_made() -> None:
    started = time.monotonic()
    with pytest.raises(JudgeError, match=r"no judge answers at http://127\.0\.0\.1:9 \(.*: start `judge-r1 serve`"):
        GroupReward("http://127.0.0.1:9")
    assert time.monotonic() - started < 10


def test_a_forked_process_gets_a_sentence() -> None:
    """A fork has no copy of the thread that compares: a call used to wait for ever."""
    reward = GroupReward("longer")
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(ours)
            call(reward, ["p"] * 2, ["one", "two three"])
            os.write(theirs, b"judged")
        except BaseException as error:
            os.write(theirs, str(error).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    try:
        ready, _, _ = select.select([ours], [], [], 20)
        assert ready, "the forked process still waits"
        assert b"opened in another process" in os.read(ours, 1000)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ours)
        reward.close()


def test_trl_trains_three_steps(model_folder: Path, tmp_path: Path) -> None:
    """A judge that fails on some completions. The run finishes, and the rate of failures is a metric of TRL's log."""
    trl = pytest.importorskip("trl", reason="TRL is not installed: pip install 'judge-r1[train]'")
    from datasets import Dataset

    with LiveServer(service(FailsOn("e"))) as server:
        reward = GroupReward(server.url)
        once(reward)
        args = trl.GRPOConfig(
            output_dir=str(tmp_path), max_steps=3, per_device_train_batch_size=8, num_generations=4,
            max_completion_length=6, logging_steps=1, save_strategy="no", report_to=[], use_cpu=True, seed=1,
        )  # fmt: skip
        trainer = trl.GRPOTrainer(
            model=str(model_folder),
            reward_funcs=reward,
            args=args,
            train_dataset=Dataset.from_list([{"prompt": f"who paid {n}"} for n in range(8)]),
        )
        trainer.train()
        reward.close()
    rows = [row for row in trainer.state.log_history if "reward" in row]
    assert [row["judge/comparisons"] for row in rows] == [16.0] * 3  # two groups of 4, each pair in both orders
    assert all("rewards/judge_r1/mean" in row for row in rows)
    assert any(0 < row["judge/failure_rate"] < 1 for row in rows)
    assert any(row["grad_norm"] > 0 for row in rows)
