from pathlib import Path

import pytest
from analysis_factories import answer, played, right, wrong
from evaluation_factories import toy_pairs

from judge_r1.evaluation.analysis.error_analysis import flip_grid, flips
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged

PAIRS = toy_pairs(6)


def test_every_item_is_of_one_kind(tmp_path: Path) -> None:
    ids = [pair.pair_id for pair in PAIRS]
    before, after = set(ids[:20]), set(ids[10:36])
    says = {
        "one": lambda p, a: answer(right(p, a) if p.pair_id in before else wrong(p, a)),
        "two": lambda p, a: answer(right(p, a) if p.pair_id in after else None),
    }
    found = flips(*played(tmp_path, says))
    assert found["all"] == {"both right": 10, "mended": 16, "broken": 10, "both wrong": 12}
    assert found["net"] == pytest.approx(6 / 48)
    assert found["ci95"][0] < 6 / 48 < found["ci95"][1]
    assert set(found["mended"]) == after - before
    assert set(found["broken"]) == before - after
    assert {kind: sum(group[kind] for group in found["by_group"].values()) for kind in found["all"]} == found["all"]
    grid = flip_grid([found])
    assert [row[0] for row in grid.rows] == ["one → two", "  academic", "  legal", "  medical"]
    assert grid.rows[0][:6] == ("one → two", "48", "10", "16", "10", "12")


def test_a_row_against_itself_never_flips(tmp_path: Path) -> None:
    [row] = played(tmp_path, {"one": lambda p, a: answer("A>B")})
    found = flips(row, row)
    assert found["all"]["mended"] == found["all"]["broken"] == 0
    assert found["p"] == 1


def test_half_right_items_are_no_flips(tmp_path: Path) -> None:
    from dataclasses import replace

    from judge_r1.core.items import AggregatedVerdict
    from judge_r1.evaluation.results import PanelResults

    [row] = played(tmp_path, {"one": lambda p, a: answer("A>B")})
    suite = replace(row.suite, aggregate=lambda item, games: AggregatedVerdict(verdict=games[0].verdict, score=0.5))
    half = Judged(row.name, row.members, suite, PanelResults.of("one", suite, row.results.traces))
    with pytest.raises(AnalysisError, match="half right"):
        flips(half, half)
