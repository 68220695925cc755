"""LongJudgeBench (arXiv 2606.01629): six sets of long texts, three protocols, four settings. `judge_r1.benchmarks.
longjudgebench` registers it; nothing here does."""
