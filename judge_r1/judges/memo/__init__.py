"""JudgeMemo: a judge that reads a long document section by section and keeps notes (docs/judgememo.md)."""

from judge_r1.judges.memo import judge as judge  # registers it
