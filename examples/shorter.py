"""A judge without a model: it prefers the candidate with fewer words.

judge-r1 eval --judge shorter --path data/pairs --out runs/shorter
"""

from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import JUDGES, JudgeBuild, JudgeKind
from judge_r1.judges.baselines import Baseline
from judge_r1.judges.request import JudgeRequest


def fewer_words(request: JudgeRequest, task: PairwiseTask) -> float:
    return len(task.reasoning_b.split()) - len(task.reasoning_a.split())


def make(build: JudgeBuild) -> Baseline:
    return Baseline("shorter", fewer_words, build.sampling.seed)


JUDGES.register("shorter")(JudgeKind("prefers the shorter candidate", make, needs_backend=False))
