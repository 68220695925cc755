"""Pairs of conversations, of which one has a single flawed turn: RankJudge (arXiv 2605.21748)."""

from judge_r1.benchmarks.rankjudge import benchmark as benchmark  # registers it
