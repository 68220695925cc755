"""The files of published results, and how a subset selects a table."""

import pytest
from pydantic import ValidationError

from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.benchmarks.published import PublishedTable, published_tables

FIELDS = {
    "schema": 1, "benchmark": "b", "source": "S, Table 1", "date": "2026", "same_items": True, "note": "n",
    "ignored": ["paper"],
}  # fmt: skip
TABLE = PublishedTable.model_validate({
    **FIELDS, "tables": {"": {"x": 0.5}, "one,two": {"y": 0.25}}, "measures": {"m": {"one": {"z": -3.0}}},
})  # fmt: skip


def test_every_file_names_a_benchmark_a_source_and_a_date() -> None:
    names = {table.benchmark for table in published_tables()}
    assert names == {
        "hellobench", "judgebench", "llmbar", "longjudgebench", "lrbench", "ood", "rankjudge", "rewardbench",
    }  # fmt: skip
    assert names <= set(BENCHMARKS.names())
    for table in published_tables():
        assert table.source
        assert table.date
        assert all(table.tables.values())
        assert all(judges for by_subset in table.measures.values() for judges in by_subset.values())


@pytest.mark.parametrize(
    ("subset", "judges"),
    [(None, ["x"]), ("paper", ["x"]), ("two,one", ["y"]), ("one,paper,two", ["y"]), ("one", []), ("one,two,other", [])],
)
def test_a_subset_selects_its_table_in_any_order_of_words(subset: str | None, judges: list[str]) -> None:
    assert list(TABLE.accuracies(subset)) == judges
    assert TABLE.measured(subset) == ({"m": {"z": -3.0}} if subset == "one" else {})


def test_a_table_can_hold_for_every_subset() -> None:
    table = PublishedTable.model_validate(FIELDS | {"ignored": ["*"], "measures": {"m": {"": {"z": 1.0}}}})
    assert table.measured("system=x,weights=y:z") == table.measured(None) == {"m": {"z": 1.0}}


@pytest.mark.parametrize("wrong", [{}, {"tables": {"": {"x": 1.5}}}, {"measures": {"m": {"": {"x": float("nan")}}}}])
def test_a_file_without_numbers_or_with_impossible_ones_is_an_error(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PublishedTable.model_validate(FIELDS | wrong)
