"""HelloBench's Figures 3, 4 and 12 from the tables and results of an evaluation."""

import math
from types import SimpleNamespace
from typing import Any, cast

import pytest

from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.analysis.writers import beside_people, billions, systems_table, writer_analysis
from judge_r1.evaluation.report.delta_tables import p_value

TABLE: dict[str, dict[str, float | None]] = {
    "Qwen-2-7B": {"S HTG": 10.0, "WC HTG": 900, "S AVG": None},
    "Qwen-2-72b": {"S HTG": 30.0, "S Chat": 40.0, "WC HTG": 1000, "S HTG-2k": 20.0, "WC HTG-2k": 1500, "S AVG": None},
    "gpt4o": {"S HTG": 47.9, "S AVG": 48.5},
}


def rated(system: str, overall: float | None, score: float) -> Any:
    return SimpleNamespace(item_id=f"{system}/chat/1", gold={"overall": overall}, valid=True, score=score)


@pytest.mark.parametrize(
    ("name", "size"),
    [("qwen2_7b", 7), ("LLaMA-3.1-70B", 70), ("mixtral_8x7b", 56), ("phi-3.5b-moe", 3.5),
     ("gpt4o_0806", None), ("4bit", None)],
)  # fmt: skip
def test_sizes_in_names(name: str, size: float | None) -> None:
    assert billions(name) == size


def test_the_three_figures() -> None:
    results = cast(Any, [rated("Qwen-2-7B", 6.0, 0.775), rated("Qwen-2-7B", 8.0, 0.775), rated("gpt4o", None, 1.0)])
    data, grids, figures = writer_analysis(TABLE, results)
    assert data["sizes"] == {"Qwen-2-7B": (7, 10.0), "Qwen-2-72b": (72, 35.0)}
    assert data["lengths"] == {"Qwen-2-72b": [(0, 30.0, 1000), (2000, 20.0, 1500)]}
    assert data["people"] == {"Qwen-2-7B": (7.0, pytest.approx(10.0), 2)}
    assert [grid.title[:8] for grid in grids] == ["Score by", "Score an", "Score be"]
    assert [figure.title for figure in figures] == [
        "Score by size", "Score by required length", "Words by required length", "Score beside people's",
    ]  # fmt: skip
    assert "Qwen-2-72b 72B, 35" in figures[0].svg
    assert beside_people(cast(Any, [rated("a", None, 1.0)])) == {}


def test_what_cannot_be_shown_is_one_sentence() -> None:
    with pytest.raises(JudgeError, match=r"Fig\. 3 needs systems with their size"):
        writer_analysis({"gpt4o": {"S AVG": 1.0}}, [])
    with pytest.raises(JudgeError, match="has 0 tables of systems"):
        systems_table({"rows": [{"name": "j"}]}, "runs/x")


def test_small_p_values_have_two_digits_that_count() -> None:
    assert [p_value(p) for p in (None, 0.25, 0.01, 0.004321, 1.26e-8)] == ["–", "0.2500", "0.0100", "0.0043", "1.3e-08"]
    assert math.isclose(float(p_value(5.07e-18)), 5.1e-18)
