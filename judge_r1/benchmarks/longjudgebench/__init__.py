"""LongJudgeBench (arXiv 2606.01629): six data sets of long texts, three protocols, four settings."""

from judge_r1.benchmarks.longjudgebench import benchmark as benchmark  # registers it
