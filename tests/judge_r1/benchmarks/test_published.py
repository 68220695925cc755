"""The files of published accuracies, and how a subset selects a table."""

from statistics import fmean

import pytest

from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.benchmarks.longjudgebench.subset import parse_subset
from judge_r1.benchmarks.published import PublishedTable, published, published_tables

TABLE = PublishedTable.model_validate({
    "schema": 1, "benchmark": "b", "source": "S, Table 1", "date": "2026", "same_items": True, "note": "n",
    "ignored": ["paper"], "tables": {"": {"x": 0.5}, "one:two": {"y": 0.25}},
})  # fmt: skip


def test_every_file_names_a_benchmark_a_source_and_a_date() -> None:
    names = {table.benchmark for table in published_tables()}
    assert names == {"judgebench", "llmbar", "longjudgebench", "lrbench", "ood"}
    assert names <= set(BENCHMARKS.names())
    assert all(table.source and table.date and all(table.tables.values()) for table in published_tables())


@pytest.mark.parametrize(
    ("subset", "judges"),
    [(None, ["x"]), ("paper", ["x"]), ("two:one", ["y"]), ("one:paper:two", ["y"]), ("one", []), ("one:two:other", [])],
)
def test_a_subset_selects_its_table_in_any_order_of_words(subset: str | None, judges: list[str]) -> None:
    assert list(TABLE.accuracies(subset)) == judges


def test_longjudgebench_has_the_averages_that_its_paper_states() -> None:
    """The mean of a column over the four settings (or two) and eight judges (paper, section 5.1)."""
    [table] = published("longjudgebench", "ma:vanilla:paper", same_items=True)
    assert table.accuracies("ma")["Qwen3-Max"] == 0.5389
    for key in table.tables:
        parse_subset(key)
    means = {
        "verify_bench_hard": 0.6742,
        "deepresearch_bench": 0.6454,
        "realdr": 0.4393,
        "ma": 0.4983,
        "wp_bench": 0.5776,
    }
    for name, mean in means.items():
        values = [v for key, judges in table.tables.items() if key.split(":")[0] == name for v in judges.values()]
        assert fmean(values) == pytest.approx(mean, abs=0.00006)


def test_lrbench_has_the_rows_of_table_12() -> None:
    assert published("lrbench", None, same_items=True) == []
    [table] = published("lrbench", None, same_items=False)
    assert len(table.accuracies(None)) == 20
    best = table.accuracies(None)["Judge-R1-warm-fc-search"]
    domains = [table.accuracies(domain)["Judge-R1-warm-fc-search"] for domain in ("legal", "academic", "medical")]
    assert best == pytest.approx(fmean(domains), abs=0.006)


def test_ood_has_the_applications_that_the_reader_has() -> None:
    assert published("ood", "llmbar-natural", same_items=True)[0].accuracies("llmbar-natural") == {
        "Qwen3-8B": 0.65,
        "GRPO-8B": 0.72,
    }
    assert published("ood", None, same_items=False) == []
