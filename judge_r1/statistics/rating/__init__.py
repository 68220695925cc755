"""Ratings of judges and items from correct and wrong answers (RankJudge, appendix B)."""
