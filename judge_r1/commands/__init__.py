"""The commands behind `judge-r1`, one group a file. Only here and in `judge_r1.cli` do the three rooms meet."""
