"""A reward function for TRL's trainers: completions of one prompt are compared with each other.

from judge_r1.rewards.trl import GroupReward

trainer = GRPOTrainer(model=..., reward_funcs=GroupReward("http://127.0.0.1:8000"), train_dataset=...)
"""

import logging
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from judge_r1.core.principles import GENERAL
from judge_r1.rewards.group import Orders, Watched
from judge_r1.rewards.group_judge import Group, GroupJudge
from judge_r1.rewards.pair_judge import Question
from judge_r1.rewards.schedule import Schedule
from judge_r1.rewards.texts import Content, text_of
from judge_r1.rewards.watch import Watch

_log = logging.getLogger(__name__)
_Key = tuple[str, str, str | None]


class GroupReward:
    """An asynchronous reward function that gets the whole batch. Completions of equal prompts (and equal context and
    reference) are a group. The reward is a score in [0, 1], and None where the judge failed: TRL then leaves the
    completion out of its group's mean and gives it the advantage 0.

    Logs the metrics `judge/failure_rate` (comparisons without a judgment), `judge/unscored` (completions without a
    reward) and `judge/comparisons`, and the column `judge_failure` of the completions table. With `watch` also
    `judge/watch_n` (pairs that both judges decide), `judge/watch_agreement` (the share of them with the same winner),
    `judge/watch_failed` (comparisons without a second judgment), `judge/proxy_reward` (the mean
    reward) and `judge/length` (the mean number of tokens, or of words where TRL gives no `completion_ids`).

    Args:
        judge, schedule, orders, concurrency: As for `GroupJudge`.
        reference: Column of the dataset with the reference answers, for the schedule `anchor`.
        context: Column with the text of the case, if prompts are about cases.
        domain: Domain of the cases.
        watch, watch_share: A second judge, and the share of groups that it judges, too (`judge_r1.rewards.watch`). It
            never changes a reward and stops nothing.
    """

    # TRL names its metrics after the `__name__` of a reward function.
    __name__ = "judge_r1"

    def __init__(
        self,
        judge: str,
        *,
        schedule: Schedule = "circular",
        orders: Orders = 2,
        concurrency: int = 64,
        reference: str | None = None,
        context: str | None = None,
        domain: str = GENERAL,
        watch: str | None = None,
        watch_share: float = 0.05,
    ) -> None:
        if reference is not None and schedule != "anchor":
            raise ValueError(f"the schedule {schedule} does not use the column {reference!r}: use schedule='anchor'")
        self._watch = Watch(watch, beside=judge, share=watch_share, concurrency=concurrency) if watch else None
        try:
            self._judge = GroupJudge(judge, schedule=schedule, orders=orders, concurrency=concurrency)
        except BaseException:
            if self._watch is not None:
                self._watch.close()
            raise
        self._reference, self._context, self._domain = reference, context, domain

    async def __call__(
        self,
        prompts: Sequence[Content],
        completions: Sequence[Content],
        *,
        log_metric: Callable[[str, float], None] | None = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Raises: KeyError if the dataset lacks a named column, and JudgeError if every comparison would fail."""
        for name in (self._context, self._reference):
            if name and name not in columns:
                raise KeyError(f"the dataset has no column {name!r}: name one that it has")
        members: dict[_Key, list[int]] = {}
        for index, prompt in enumerate(prompts):
            context = columns[self._context][index] if self._context else ""
            reference = columns[self._reference][index] if self._reference else None
            members.setdefault((text_of(prompt), context or "", reference), []).append(index)
        texts = [text_of(completion) for completion in completions]
        groups = [
            Group(Question(prompt, context, self._domain), [texts[index] for index in indices], reference)
            for (prompt, context, reference), indices in members.items()
        ]
        rewards: list[float | None] = [None] * len(prompts)
        failures: list[str | None] = [None] * len(prompts)
        failed = comparisons = 0
        scored = await self._judge.score(groups)
        for indices, found in zip(members.values(), scored, strict=True):
            for index, score, failure in zip(indices, found.scores, found.failures, strict=True):
                rewards[index], failures[index] = score, failure
            failed, comparisons = failed + found.failed, comparisons + len(found.comparisons)
        if comparisons and failed == comparisons:
            _log.warning("none of %d comparisons has a judgment: %s", comparisons, next(filter(None, failures)))
        if log_metric is not None:
            log_metric("judge/failure_rate", failed / max(1, comparisons))
            log_metric("judge/unscored", rewards.count(None) / max(1, len(rewards)))
            log_metric("judge/comparisons", float(comparisons))
        if self._watch is not None:
            watched = await self._watch.look(groups, scored)
            if log_metric is not None:
                ids = columns.get("completion_ids") or [text.split() for text in texts]
                for name, value in _watch_metrics(watched, rewards, ids).items():
                    log_metric(f"judge/{name}", value)
        if log_extra is not None:
            log_extra("judge_failure", [failure or "" for failure in failures])
        return rewards

    def close(self) -> None:
        self._judge.close()
        if self._watch is not None:
            self._watch.close()


def _watch_metrics(watched: Watched, rewards: Sequence[float | None], ids: Sequence[Sequence[Any]]) -> dict[str, float]:
    """The agreement is left out where no pair was compared, and the reward where there is none."""
    known = [reward for reward in rewards if reward is not None]
    found = {"watch_n": float(watched.compared), "watch_failed": float(watched.failed), "length": fmean(map(len, ids))}
    found |= {"watch_agreement": watched.same / watched.compared} if watched.compared else {}
    return found | ({"proxy_reward": fmean(known)} if known else {})
