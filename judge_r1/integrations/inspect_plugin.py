"""What `inspect` finds by the prefix `judge_r1/`: scorers, metrics, a solver, a task and a model provider."""

from judge_r1.integrations.inspect_metrics import ci95, valid_rate
from judge_r1.integrations.inspect_model import judge_r1
from judge_r1.integrations.inspect_scorer import judged, pairwise
from judge_r1.integrations.inspect_solver import episode, pairs, verdict

__all__ = ["ci95", "episode", "judge_r1", "judged", "pairs", "pairwise", "valid_rate", "verdict"]
