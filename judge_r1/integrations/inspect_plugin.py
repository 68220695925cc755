"""What `inspect` finds by the prefix `judge_r1/`: scorers, metrics, a solver, a task and a model provider."""

from collections.abc import Sequence

from inspect_ai.scorer import Metric, SampleScore, metric

from judge_r1.evaluation.inspect_logs import CLUSTER, FITS, VALID
from judge_r1.integrations.inspect_model import judge_r1
from judge_r1.integrations.inspect_scorer import judged, pairwise
from judge_r1.integrations.inspect_solver import episode, pairs, verdict
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


__all__ = ["ci95", "episode", "judge_r1", "judged", "pairs", "pairwise", "valid_rate", "verdict"]
