"""CoFluEval-LC: can a judge tell a long document from a degraded copy of it? (docs/judgememo.md)"""

from judge_r1.benchmarks.cofluence import benchmark as benchmark  # registers it
