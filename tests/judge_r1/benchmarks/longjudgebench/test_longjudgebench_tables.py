"""Consistency of the paper's Tables 3 to 6. Single cells cannot be recomputed without outputs, but averages can."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge_r1.benchmarks.longjudgebench.metrics import averages
from judge_r1.benchmarks.longjudgebench.query import COLUMNS

pytestmark = pytest.mark.real_data
Rows = list[tuple[str, str, list[float | None]]]

INCONSISTENT = {
    "GLM-5.1": (17.9, 33.3), "GPT-4o-mini": (78.7, 48.9), "GPT-5.2": (46.0, 55.6), "DeepSeek-V4-Flash": (62.0, 45.6),
    "Qwen3-Max": (43.0, 38.9), "Qwen3-32B (w/ thinking)": (21.3, 37.8), "Qwen3-32B (w/o thinking)": (16.0, 21.1),
    "Kimi-K2.6": (10.6, 23.3),
}  # fmt: skip
"""Table 4: percent of WP's 263 pairs and of MA's 90 pairs, by the names of Table 3."""
CONSISTENT_WP = (0.638, 0.676, 0.653, 0.554, 0.549, 0.720, 0.611, 0.566)
"""In the order of Table 3."""


@pytest.fixture(scope="module")
def tables(real_data: Path) -> dict[str, Rows]:
    path = real_data.parent / "specs" / "longjudgebench_tables.json"
    if not path.exists():
        pytest.skip(f"no transcription of the paper's tables at {path}")
    found: dict[str, Any] = json.loads(path.read_text())
    return {name: [tuple(row) for row in rows] for name, rows in found.items()}


def test_averages_of_table_3(tables: dict[str, Rows]) -> None:
    for judge, setting, cells in tables["acc"]:
        found = averages(dict(zip(COLUMNS, cells[:7], strict=True)))
        assert (found["avg_no_wp"], found["avg"]) == pytest.approx((cells[7], cells[8]), abs=0.00011), (judge, setting)


@pytest.mark.parametrize("table", ["sp", "kt"])
def test_averages_of_tables_5_and_6(tables: dict[str, Rows], table: str) -> None:
    for judge, setting, cells in tables[table]:
        found = averages(dict(zip(COLUMNS, cells[:7], strict=True)))
        assert found["avg"] == pytest.approx(cells[7], abs=0.00011), (judge, setting)


def test_summary_of_table_3(tables: dict[str, Rows]) -> None:
    with_wp = [cells[8] or 0.0 for _, _, cells in tables["acc"]]
    assert len(with_wp) == 32
    assert sum(with_wp) / 32 == pytest.approx(0.5627, abs=0.00005)
    assert max(with_wp) == 0.6721
    assert sum(value > 0.6 for value in with_wp) == 12
    settings = dict.fromkeys(setting for _, setting, _ in tables["acc"])
    without = [sum(cells[7] or 0.0 for _, setting, cells in tables["acc"] if setting == one) / 8 for one in settings]
    found = [sum(cells[8] or 0.0 for _, s, cells in tables["acc"] if s == one) / 8 for one in settings]
    assert found == pytest.approx([0.5312, 0.5570, 0.5843, 0.5784], abs=0.0001)
    assert without[2:] == pytest.approx(found[2:])


def test_vanilla_rows_of_tables_5_and_6(tables: dict[str, Rows]) -> None:
    rho = (0.5399, 0.3980, 0.5004, 0.1423, 0.1400, 0.6176, 0.5614, 0.5301)
    tau = (0.4949, 0.3565, 0.4362, 0.1197, 0.1157, 0.5601, 0.5014, 0.4703)
    for table, expected in (("sp", rho), ("kt", tau)):
        assert [cells[7] for _, setting, cells in tables[table] if setting == "Vanilla"] == list(expected)


@pytest.mark.parametrize(("column", "pairs"), [("DR", 300), ("Verify", 316), ("WP", 526), ("MA", 180)])
def test_cells_are_multiples_of_one_over_pairs(tables: dict[str, Rows], column: str, pairs: int) -> None:
    for judge, setting, cells in tables["acc"]:
        if (cell := cells[list(COLUMNS).index(column)]) is not None:
            assert abs(round(cell * pairs) / pairs - cell) <= 0.000051, (judge, setting)


@pytest.mark.parametrize("column", ["Structure", "Content"])
def test_surge_pairs_per_topic(tables: dict[str, Rows], column: str) -> None:
    for judge, setting, cells in tables["acc"]:
        pairs, cell = 41 * (3 if "Ref" in setting else 6), cells[list(COLUMNS).index(column)]
        assert cell is not None
        assert abs(round(cell * pairs) / pairs - cell) <= 0.000051, (judge, setting)


def test_tables_3_and_4_are_consistent(tables: dict[str, Rows]) -> None:
    """An inconsistent pair has one correct answer and a consistent correct pair has two. The correct answers minus the
    inconsistent pairs are therefore an even number: twice the consistent correct pairs."""
    vanilla = [(judge, cells) for judge, setting, cells in tables["acc"] if setting == "Vanilla"]
    assert {judge for judge, _ in vanilla} == set(INCONSISTENT)
    for (judge, cells), expected in zip(vanilla, CONSISTENT_WP, strict=True):
        percent = INCONSISTENT[judge][0]
        inconsistent, right = round(percent * 263 / 100), round((cells[list(COLUMNS).index("WP")] or 0) * 526)
        assert inconsistent / 263 * 100 == pytest.approx(percent, abs=0.051)
        assert (right - inconsistent) % 2 == 0, judge
        assert (right - inconsistent) / 2 / (263 - inconsistent) == pytest.approx(expected, abs=0.00051)
        ma = INCONSISTENT[judge][1]
        assert round(ma * 0.9) / 0.9 == pytest.approx(ma, abs=0.06)


@pytest.mark.parametrize(
    ("column", "setting", "tied", "half", "strict"),
    [("DR", "Vanilla", 0.27, 0.681, 0.545), ("DR", "Rubric", 0.01, 0.711, 0.708),
     ("RealDR", "Vanilla", 0.38, 0.596, 0.405), ("RealDR", "Rubric", 0.24, 0.595, 0.478)],
)  # fmt: skip
def test_rubric_gain_comes_from_fewer_ties(
    tables: dict[str, Rows], column: str, setting: str, tied: float, half: float, strict: float
) -> None:
    """With c right of the pairs and t tied, tau_b = (2c - 1 + t) / sqrt(1 - t) where the gold has no ties."""
    at = list(COLUMNS).index(column)
    right = [row[at] or 0.0 for _, name, row in tables["acc"] if name == setting]
    tau = [row[at] or 0.0 for _, name, row in tables["kt"] if name == setting]
    ties = [solved(c, k) for c, k in zip(right, tau, strict=True)]
    assert sum(right) / 8 == pytest.approx(strict, abs=0.001)
    assert sum(ties) / 8 == pytest.approx(tied, abs=0.02)
    assert sum(c + t / 2 for c, t in zip(right, ties, strict=True)) / 8 == pytest.approx(half, abs=0.006)


def solved(right: float, tau: float) -> float:
    """The share of ties, by bisection: the left side increases with it."""
    low, high = 0.0, 1.0 - right
    for _ in range(60):
        middle = (low + high) / 2
        if (2 * right - 1 + middle) < tau * (1 - middle) ** 0.5:
            low = middle
        else:
            high = middle
    return low
