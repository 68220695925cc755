"""Metrics of Inspect for the scores of a judge. The logs of an evaluation name them: after an edit of scores, Inspect
computes the results as the evaluation does."""

from collections.abc import Sequence

from inspect_ai.scorer import Metric, SampleScore, metric

from judge_r1.evaluation.inspect_logs import CLUSTER, FITS, VALID
from judge_r1.statistics.intervals import clustered_mean_ci


@metric
def ci95() -> Metric:
    """The 95 % interval of the accuracy over the clusters that `cluster_id` in the metadata of the samples names."""

    def bounds(scores: Sequence[SampleScore]) -> dict[str, float]:
        clusters = [str((one.sample_metadata or {}).get(CLUSTER) or one.sample_id) for one in scores]
        low, high = clustered_mean_ci([one.score.as_float() for one in scores], clusters)
        return {"ci95_low": low, "ci95_high": high}

    return bounds


@metric
def valid_rate() -> Metric:
    """The share of valid verdicts among those on prompts that the model could read, or among all if there is none."""

    def share(scores: Sequence[SampleScore]) -> float:
        about = [one.score.metadata or {} for one in scores]
        about = [one for one in about if one.get(FITS) is not False] or about
        return sum(one.get(VALID) is not False for one in about) / len(about)

    return share
