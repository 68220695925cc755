"""HelloBench and HelloEval (arXiv 2409.16191): checklists on long texts, with learned weights."""

from judge_r1.benchmarks.hellobench import benchmark as benchmark  # registers it
