"""The files of published results, and how a subset selects a table."""

from statistics import fmean

import pytest
from pydantic import ValidationError

from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.benchmarks.published import PublishedTable, published, published_tables

FIELDS = {
    "schema": 1, "benchmark": "b", "source": "S, Table 1", "date": "2026", "same_items": True, "note": "n",
    "ignored": ["paper"],
}  # fmt: skip
TABLE = PublishedTable.model_validate({
    **FIELDS, "tables": {"": {"x": 0.5}, "one:two": {"y": 0.25}}, "measures": {"m": {"one": {"z": -3.0}}},
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
    [(None, ["x"]), ("paper", ["x"]), ("two:one", ["y"]), ("one:paper:two", ["y"]), ("one", []), ("one:two:other", [])],
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


def test_lrbench_has_the_rows_of_table_12() -> None:
    assert published("lrbench", None, same_items=True) == []
    ablation, table = published("lrbench", None, same_items=False)
    assert len(table.accuracies(None)) == 20
    assert ablation.accuracies(None) == {"Judge-R1-fc": 0.77, "Judge-R1-warm-fc": 0.88}
    best = table.accuracies(None)["Judge-R1-warm-fc-search"]
    domains = [table.accuracies(domain)["Judge-R1-warm-fc-search"] for domain in ("legal", "academic", "medical")]
    assert best == pytest.approx(fmean(domains), abs=0.006)
    principles = [table.accuracies(f"P{number}") for number in range(1, 7)]
    assert all(judges.keys() == table.accuracies(None).keys() for judges in principles)
    assert [judges["GRPO105K-8B"] for judges in principles] == [1.0, 0.96, 1.0, 0.99, 0.93, 1.0]
