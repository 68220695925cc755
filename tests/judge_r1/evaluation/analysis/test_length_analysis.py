"""Figures 2 and 3 of LongJudgeBench from the metrics of evaluations."""

import pytest

from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.analysis.length_analysis import length_figures, length_grids, measures

LONG = {"len_q1": 0.8, "len_q2": 0.7, "len_q3": 0.6, "len_q4": 0.5, "unfit": 0.25, "rejected": 0.0, "invalid": 0.1}
FINE = {"unfit": 0.0, "rejected": 0.0, "len_3k": 1.0, "len_8k": None, "len_16k": 0.5, "len_more": 0.25}


def test_tables_and_figures() -> None:
    rows = measures([("ma", {"name": "j", "extra": LONG}), ("realdr", {"name": "j", "extra": FINE})])
    quartiles, fixed, failures = length_grids(rows)
    assert quartiles.rows == (("j, ma", "0.800", "0.700", "0.600", "0.500"),)
    assert fixed.rows == (("j, realdr", "1.000", "–", "0.500", "0.250"),)
    assert failures.rows[0] == ("j, ma", "0.250", "0.000")
    by_quartile, by_tokens, bars = length_figures(rows)
    assert by_quartile.svg.count("<circle") == 4
    assert by_tokens.svg.count("<circle") == 3
    assert "context overflow: j, ma 0.25" in bars.svg
    assert "realdr" not in bars.svg, "a judge without failures has no bar"


def test_evaluations_of_others_are_refused() -> None:
    with pytest.raises(JudgeError, match="no evaluation of longjudgebench"):
        measures([("", {"name": "j", "extra": {"valid": 1.0}})])
