"""A reward function for slime: `--custom-rm-path judge_r1.rewards.slime.reward --group-rm`.

The environment variable JUDGE_R1_REWARD_JUDGE names the judge: a SPEC, or the URL of `judge-r1 serve`;
JUDGE_R1_REWARD_SCHEDULE the schedule. slime calls the function with a group in training and with one sample in
evaluation, where no rollouts compete, so that sample is compared with its label.

slime needs a number for each sample, and a failed judgment has none. Such a sample gets `remove_sample`, which masks it
out of the loss, the reason in `metadata["judge_failure"]`, and the mean reward of its group, which does not move the
group's mean. Zero would count against the policy for a failure of the judge.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Any, Protocol

from judge_r1.core.errors import JudgeError
from judge_r1.rewards.collector import JudgmentFailed
from judge_r1.rewards.group_judge import Group, named_judge
from judge_r1.rewards.pair_judge import Question
from judge_r1.rewards.texts import without_markup


class Sample(Protocol):
    """What is used of `slime.utils.types.Sample`."""

    prompt: Any
    response: str
    label: str | None
    remove_sample: bool
    metadata: dict[str, Any]


async def reward(args: Any, samples: Sequence[Sample] | Sample, **_: Any) -> list[float] | float:
    """One reward in [0, 1] for each sample of a group, or for a single sample.

    Raises:
        JudgeError: A single sample has no label, no judge is named, or every comparison would fail.
        JudgmentFailed: A single sample has no judgment.
    """
    if not isinstance(samples, Sequence):
        return await _against_label(samples)
    judge = named_judge()
    first = samples[0]
    question = Question(without_markup(first.prompt), str(first.metadata.get("context") or ""))
    reference = first.label if judge.schedule == "anchor" else None
    [found] = await judge.score([Group(question, [without_markup(sample.response) for sample in samples], reference)])
    valid = [score for score in found.scores if score is not None]
    mean = fmean(valid) if valid else 0.0
    for sample, failure in zip(samples, found.failures, strict=True):
        if failure is not None:
            sample.remove_sample = True
            sample.metadata["judge_failure"] = failure
    return [mean if score is None else score for score in found.scores]


async def _against_label(sample: Sample) -> float:
    if not str(sample.label or "").strip():
        raise JudgeError(
            "judge_r1.rewards.slime.reward got one sample without a label: run slime with --group-rm, or give the "
            "samples of the evaluation labels"
        )
    question = Question(without_markup(sample.prompt), str(sample.metadata.get("context") or ""))
    [found] = await named_judge(schedule="anchor").score(
        [Group(question, [without_markup(sample.response)], str(sample.label))]
    )
    if found.scores[0] is None:
        raise JudgmentFailed(found.failures[0])
    return found.scores[0]
