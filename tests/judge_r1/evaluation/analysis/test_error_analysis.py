"""Changed verdicts between two judges, and accuracy by slices of the items."""

from itertools import pairwise
from pathlib import Path

import pytest
from analysis_factories import answer, evaluate_judges, right, wrong
from evaluation_factories import passage, toy_pairs
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.records import Turn
from judge_r1.evaluation.analysis.error_analysis import (
    by_evidence,
    flip_grid,
    flips,
    noise,
    parts_by_quartile,
    slice_grids,
    slices,
)
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged

PAIRS = toy_pairs(6)


def test_flips_assign_every_item_one_kind(tmp_path: Path) -> None:
    ids = [pair.pair_id for pair in PAIRS]
    before, after = set(ids[:20]), set(ids[10:36])
    says = {
        "one": lambda p, a: answer(right(p, a) if p.pair_id in before else wrong(p, a)),
        "two": lambda p, a: answer(right(p, a) if p.pair_id in after else None),
    }
    found = flips(*evaluate_judges(tmp_path, says))
    assert found["all"] == {"both right": 10, "mended": 16, "broken": 10, "both wrong": 12}
    assert found["net"] == pytest.approx(6 / 48)
    assert found["ci95"][0] < 6 / 48 < found["ci95"][1]
    assert set(found["mended"]) == after - before
    assert set(found["broken"]) == before - after
    assert {kind: sum(group[kind] for group in found["by_group"].values()) for kind in found["all"]} == found["all"]
    grid = flip_grid([found])
    assert [row[0] for row in grid.rows] == ["one → two", "  academic", "  legal", "  medical"]
    assert grid.rows[0][:6] == ("one → two", "48", "10", "16", "10", "12")


def test_partial_scores_are_rejected(tmp_path: Path) -> None:
    from dataclasses import replace

    from judge_r1.core.items import AggregatedVerdict
    from judge_r1.evaluation.results import PanelResults

    [row] = evaluate_judges(tmp_path, {"one": lambda p, a: answer("A>B")})
    benchmark = replace(
        row.benchmark, aggregate=lambda item, votes: AggregatedVerdict(verdict=votes[0].verdict, score=0.5)
    )
    half = Judged(row.name, row.members, benchmark, PanelResults.of("one", benchmark, row.results.votes))
    with pytest.raises(AnalysisError, match="half right"):
        flips(half, half)


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 9).map(float), max_size=30), st.integers(1, 4))
def test_quartiles_partition_items_and_keep_ties_together(values: dict[str, float], parts: int) -> None:
    found = parts_by_quartile(values, parts)
    assert sorted(i for ids in found.values() for i in ids) == sorted(values)
    assert len(found) <= parts
    of = [{values[i] for i in ids} for ids in found.values()]
    assert all(max(low) < min(high) for low, high in pairwise(of))


def test_quartiles_are_named_by_their_range() -> None:
    found = parts_by_quartile({str(n): n / 10 for n in range(8)})
    assert list(found) == ["0 to 0.1", "0.2 to 0.3", "0.4 to 0.5", "0.6 to 0.7"]
    assert parts_by_quartile({"x": 1.0, "y": 1.0}) == {"1": ["x", "y"]}


def test_evidence_noise_and_accuracy_of_a_known_judge(tmp_path: Path) -> None:
    """Pairs of P2 alone see the contradicted place and one other; pairs of P4 alone search and miss; others do not."""

    def says(pair, ask):  # type: ignore[no-untyped-def]
        found = answer(right(pair, ask) if pair.violated == (2,) else wrong(pair, ask))
        at = {(2,): [(0, 30), (60, 70)], (4,): [(40, 60)]}.get(pair.violated)
        if at is None:
            return found
        shown = tuple(passage(pair, *place) for place in at)
        return found.model_copy(
            update={"turns": (Turn(text="<search>q</search>", query="q", passages=shown), *found.turns)}
        )

    [row] = evaluate_judges(tmp_path, {"row": says})
    of = {violated: {p.pair_id for p in PAIRS if p.violated == violated} for violated in ((2,), (4,), (2, 4))}
    groups = {name: set(ids) for name, ids in by_evidence(row).items()}
    assert groups == {"hit": of[2,], "miss": of[4,], "no search": of[2, 4]}
    assert noise(row) == {**dict.fromkeys(of[2,], 0.5), **dict.fromkeys(of[4,], 1.0)}
    found = slices(row)
    assert found["evidence"]["hit"]["accuracy"] == 1
    assert found["evidence"]["miss"]["accuracy"] == 0
    assert {name: (part["n"], part["accuracy"]) for name, part in found["noise"].items()} == {
        "0.5": (6, 1),
        "1": (6, 0),
    }
    grids = slice_grids({"row": found})
    assert [grid.title for grid in grids] == [
        f"Accuracy by {kind}" for kind in ("similarity", "length", "evidence", "noise")
    ]
