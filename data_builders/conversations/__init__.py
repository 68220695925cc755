"""Pairs of conversations about a document, of which one has a single flawed turn (RankJudge)."""
