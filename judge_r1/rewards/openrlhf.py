"""A reward function for OpenRLHF: `--reward.remote_url` names a file that holds

from judge_r1.rewards.openrlhf import reward_func

OpenRLHF calls it with one sample at a time, on a few threads, so each sample is compared with its label as the
reference answer. The environment variable JUDGE_R1_REWARD_JUDGE names the judge: a SPEC, or the URL of
`judge-r1 serve`. To compare the samples of a prompt with each other, use the server's route `/get_reward` instead.
"""

from collections.abc import Sequence
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.rewards.collector import JudgmentFailed
from judge_r1.rewards.group_judge import Group, named_judge
from judge_r1.rewards.pair_judge import Question
from judge_r1.rewards.texts import response_of, without_markup


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any) -> dict[str, Any]:
    """P(the response is better than the label) for each sample; a query is a prompt and its response.

    Raises:
        JudgmentFailed: A sample has no judgment. OpenRLHF logs it and keeps the sample without a reward.
        JudgeError: A sample has no label, a query holds something else than its prompt and the response, no judge is
            named, or every comparison would fail.
    """
    import torch

    if not all(labels):
        raise JudgeError("a sample has no label to compare it with: use the route /get_reward, which compares samples")
    groups = [
        Group(Question(without_markup(prompt)), [without_markup(response_of(query, prompt))], str(label))
        for query, prompt, label in zip(queries, prompts, labels, strict=True)
    ]
    scores = []
    for found in named_judge(schedule="anchor").score_sync(groups):
        if found.scores[0] is None:
            raise JudgmentFailed(found.failures[0])
        scores.append(found.scores[0])
    rewards = torch.tensor(scores)
    return {"rewards": rewards, "scores": rewards, "extra_logs": {}}
