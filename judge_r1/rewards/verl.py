"""Rewards for verl: a reward manager that judges groups, and a reward function that compares with a reference answer.

verl hands each sample to one of several reward workers at random, so the members of a group meet in a Ray actor that
all workers share. verl has no reward of a sample without a judgment. The manager raises instead: verl's trainer leaves
the sample out of its group and continues with the others.
"""

import asyncio
from dataclasses import asdict, replace
from typing import Any

import ray
from verl import DataProto
from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase

from judge_r1.core.errors import JudgeError
from judge_r1.rewards.collector import Collector, JudgmentFailed
from judge_r1.rewards.group import GroupScores
from judge_r1.rewards.group_judge import Group, GroupJudge, shared_judge
from judge_r1.rewards.pair_judge import Question
from judge_r1.rewards.texts import text_of
from judge_r1.rewards.watch import Watch

ACTOR = "judge_r1_groups"
DEADLINE_S = 600.0
"""Seconds from the first sample of a group until it is judged with the samples that have arrived."""
_Key = tuple[str, Question, str | None]


class GroupActor:
    """Collects the samples of all reward workers and judges their groups."""

    def __init__(self, options: dict[str, Any]) -> None:
        watch, share = options.pop("watch", None), options.pop("watch_share", 0.05)
        self._watch = Watch(watch, beside=options["judge"], share=share) if watch else None
        self._judge = GroupJudge(**options)
        self._groups: Collector[_Key, str] = Collector(self._judge_group)

    async def join(self, key: _Key, answer: str, size: int, deadline_s: float) -> dict[str, Any]:
        score, found = await self._groups.join(key, answer, size=size, deadline_s=deadline_s)
        watched = found.watched
        return {
            "score": score, "judge_group_size": len(found.scores),
            "judge_unscored": found.scores.count(None) / len(found.scores),
            "judge_failure_rate": found.failed / max(1, len(found.comparisons)),
            # Counts: a group that is not watched has no agreement, and verl wants the same keys of every sample.
            **({f"judge_watch_{name}": value for name, value in asdict(watched).items()} if watched else {}),
        }  # fmt: skip

    async def _judge_group(self, key: _Key, answers: Any) -> GroupScores:
        _, question, reference = key
        group = Group(question, answers, reference)
        [found] = await self._judge.score([group])
        return found if self._watch is None else replace(found, watched=await self._watch.look([group], [found]))


class GroupRewardManager(RewardManagerBase):  # type: ignore[misc]
    """Compares the samples of one prompt. `reward.reward_kwargs` holds the arguments of `GroupJudge`, `deadline_s`, and
    `watch` and `watch_share` (`judge_r1.rewards.watch`): its counts are in `reward_extra_info`.

    A row of the dataset may have `extra_info.context`, the text of the case, and `extra_info.group_size`; without the
    latter a group has `actor_rollout_ref.rollout.n` samples. The schedule `anchor` compares with
    `reward_model.ground_truth`, if there is one.
    """

    def __init__(self, config: Any, tokenizer: Any, compute_score: Any = None, **_: Any) -> None:
        super().__init__(config, tokenizer, compute_score)
        options = dict(config.reward.get("reward_kwargs") or {})
        if "judge" not in options:
            raise ValueError("name the judge: +reward.reward_kwargs.judge=SPEC, or the URL of judge-r1 serve")
        self._deadline_s = float(options.pop("deadline_s", DEADLINE_S))
        self._size = int(config.actor_rollout_ref.rollout.n)
        self._anchor = options.get("schedule") == "anchor"
        # All samples of open groups wait in calls of `join`. Ray's limit for async actors is 1000.
        actor = ray.remote(GroupActor).options(
            name=ACTOR, get_if_exists=True, num_cpus=0, max_restarts=-1, max_concurrency=2**16
        )
        self._actor = actor.remote(options)

    async def run_single(self, data: DataProto) -> dict[str, Any]:
        """Raises: ray.exceptions.RayTaskError, caused by JudgmentFailed, if the sample has no score."""
        item = data[-1]
        row = item.non_tensor_batch
        length = item.batch["responses"].shape[-1]
        ids = item.batch["responses"][: int(item.batch["attention_mask"][-length:].sum())]
        answer = await asyncio.to_thread(self.tokenizer.decode, ids, skip_special_tokens=True)
        more = row.get("extra_info") or {}
        question = Question(text_of(list(row["raw_prompt"])), str(more.get("context") or ""))
        reference = (row.get("reward_model") or {}).get("ground_truth") if self._anchor else None
        key = (str(row["uid"]), question, str(reference) if reference else None)
        size = int(more.get("group_size") or self._size)
        found = await self._actor.join.remote(key, answer, size, self._deadline_s)
        return {"reward_score": found["score"], "reward_extra_info": {"acc": found["score"], **found}}


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: dict[str, Any] | None = None,
    *,
    judge: str,
    **_: Any,
) -> float:
    """verl's `custom_reward_function`: P(the answer is better than `ground_truth`), over both orders. The question and
    the case are `extra_info.question` and `extra_info.context`; `judge` comes from `reward_kwargs.judge`.

    Raises:
        JudgmentFailed: The judge gave no valid answer.
        JudgeError: The row has no question.
    """
    more = extra_info or {}
    if not str(more.get("question") or "").strip():
        raise JudgeError(f"a row of {data_source!r} has no extra_info.question, which the answer is judged by: add it")
    question = Question(str(more["question"]), str(more.get("context") or ""))
    group = Group(question, [solution_str], ground_truth)
    [found] = await shared_judge(judge, schedule="anchor").score([group])
    if found.scores[0] is None:
        raise JudgmentFailed(f"a sample of {data_source!r} has no judgment: {found.failures[0]}")
    return found.scores[0]
