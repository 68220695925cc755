"""A reward function for OpenRLHF: `--reward.remote_url` names a file that holds

from judge_r1.rewards.openrlhf import reward_func

Environment variables configure it: JUDGE_R1_REWARD_JUDGE (a SPEC or the URL of `judge-r1 serve`), JUDGE_R1_REWARD_SIZE
(the samples of a prompt, `rollout.n_samples_per_prompt`), JUDGE_R1_REWARD_SCHEDULE and JUDGE_R1_REWARD_DEADLINE
(seconds). OpenRLHF calls the function once for each sample, in a thread, so samples of one prompt and label wait for each other.
With several rollout processes, use the server's route `/get_reward` instead, where all processes meet.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.event_loop import BackgroundLoop, gather_all
from judge_r1.rewards.collector import Collector
from judge_r1.rewards.group import GroupScores
from judge_r1.rewards.group_judge import Group, GroupJudge
from judge_r1.rewards.pair_judge import Question

_Key = tuple[str, str]
_VARIABLE = "JUDGE_R1_REWARD_"


@dataclass(frozen=True)
class _Settings:
    judge: GroupJudge
    loop: BackgroundLoop
    groups: Collector[_Key, str]
    size: int
    deadline_s: float


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any) -> dict[str, Any]:
    """Scores in [0, 1] of the responses, which are the queries without their prompts.

    Raises:
        JudgmentFailed: A sample has no score. OpenRLHF logs it, and the sample has no reward.
        JudgeError: A variable is missing, or every comparison would fail.
    """
    import torch

    settings = _settings()

    async def all_scores() -> list[float]:
        works = [
            settings.groups.join(
                (prompt, str(label or "")), response_of(query, prompt), size=settings.size, deadline_s=settings.deadline_s
            )
            for query, prompt, label in zip(queries, prompts, labels, strict=True)
        ]
        return [score for score, _ in await gather_all(works)]

    scores = torch.tensor(settings.loop.run_sync(all_scores()))
    return {"rewards": scores, "scores": scores, "extra_logs": {}}


def response_of(query: str, prompt: str) -> str:
    """The part of a query after its prompt. The whole query if tokenizing has changed the prompt."""
    return query.removeprefix(prompt)


@cache
def _settings() -> _Settings:
    def variable(name: str, default: str | None = None) -> str:
        value = os.environ.get(_VARIABLE + name, default)
        if value is None:
            raise JudgeError(f"set the environment variable {_VARIABLE}{name}")
        return value

    judge = GroupJudge(variable("JUDGE"), schedule=variable("SCHEDULE", "circular"))  # type: ignore[arg-type]
    anchor = judge.schedule == "anchor"

    async def judge_group(key: _Key, answers: Sequence[str]) -> GroupScores:
        [found] = await judge.score([Group(Question(key[0]), answers, key[1] or None if anchor else None)])
        return found

    size, deadline_s = int(variable("SIZE")), float(variable("DEADLINE", "120"))
    return _Settings(judge, BackgroundLoop("judge-r1-openrlhf"), Collector(judge_group), size, deadline_s)
