"""The agentic judge of judge_r1 for verifiers: a taskset (id `judge-r1-env`), and a judge plugin of the same id."""

from judge_r1.integrations.verifiers_judge import JudgeR1
from judge_r1.integrations.verifiers_taskset import JudgeTaskset

__all__ = ["JudgeR1", "JudgeTaskset"]
