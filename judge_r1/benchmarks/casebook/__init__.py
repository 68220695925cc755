"""Original cases with a sound and flawed reasonings, for judges that search (docs/casebook.md)."""

from judge_r1.benchmarks.casebook import benchmark as benchmark  # registers it
