"""The simulation behind docs/experiments/intervals.md, at a small size."""

import pytest

from scripts.bench import selective


def test_every_judge_and_method_gets_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    selective.main(["--trials", "4", "--cases", "60"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("alpha 0.1, delta 0.1 ± 0.450; 4 calibrations")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[4:]]
    assert [row[:2] for row in rows] == [[j, m] for j in selective.JUDGES for m in selective.METHODS]
    assert all(row[2] == "60" and 0 <= float(row[4]) <= float(row[3]) <= 1 for row in rows)


def test_the_naive_threshold_is_the_lowest_that_looks_good() -> None:
    told = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.01]
    right = [True] * 5 + [False] + [True] * 4 + [False]
    copies = selective.COPIES
    of = ([c for c in told for _ in range(copies)], [r for r in right for _ in range(copies)], [])
    assert selective.naive(of, 0) == 0.05
