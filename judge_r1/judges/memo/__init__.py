"""JudgeMemo: a judge that reads a long document section by section and keeps notes (docs/judgememo.md)."""

from judge_r1.judges.memo import judge as judge  # registers itself
from judge_r1.judges.memo import search_judge as search_judge
