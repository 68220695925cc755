"""What `inspect` finds by the prefix `judge_r1/`: scorers, a solver, a task and a model provider."""

from judge_r1.integrations.inspect_model import judge_r1
from judge_r1.integrations.inspect_scorer import judged, pairwise
from judge_r1.integrations.inspect_solver import episode, pairs, verdict

__all__ = ["episode", "judge_r1", "judged", "pairs", "pairwise", "verdict"]
