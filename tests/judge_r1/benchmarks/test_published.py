"""The files of published accuracies, and how a subset selects a table."""

from statistics import fmean

import pytest

from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.benchmarks.longjudgebench.subset import parse_subset
from judge_r1.benchmarks.published import PublishedTable, published, published_tables
from judge_r1.benchmarks.rewardbench import CHAT_HARD

TABLE = PublishedTable.model_validate({
    "schema": 1, "benchmark": "b", "source": "S, Table 1", "date": "2026", "same_items": True, "note": "n",
    "ignored": ["paper"], "tables": {"": {"x": 0.5}, "one:two": {"y": 0.25}},
})  # fmt: skip


def test_every_file_names_a_benchmark_a_source_and_a_date() -> None:
    names = {table.benchmark for table in published_tables()}
    assert names == {"judgebench", "llmbar", "longjudgebench", "lrbench", "ood", "rewardbench"}
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
    ablation, table = published("lrbench", None, same_items=False)
    assert len(table.accuracies(None)) == 20
    assert ablation.accuracies(None) == {"Judge-R1-fc": 0.77, "Judge-R1-warm-fc": 0.88}
    best = table.accuracies(None)["Judge-R1-warm-fc-search"]
    domains = [table.accuracies(domain)["Judge-R1-warm-fc-search"] for domain in ("legal", "academic", "medical")]
    assert best == pytest.approx(fmean(domains), abs=0.006)


def test_ood_has_the_applications_that_the_reader_has() -> None:
    assert published("ood", "llmbar-natural", same_items=True)[0].accuracies("llmbar-natural") == {
        "Qwen3-8B": 0.65,
        "GRPO-8B": 0.72,
    }
    assert published("ood", None, same_items=True) == []
    [whole] = published("ood", None, same_items=False)
    assert whole.accuracies(None) == {"Qwen3-8B": 0.496, "GRPO-8B": 0.574}


def test_the_applications_and_the_whole_set_of_the_paper_agree() -> None:
    """Table 15 is the mean of Table 5 over 554 pairs, within the rounding of Table 5."""
    pairs = {**CHAT_HARD, "judge-bench-reasoning": 98}
    [table] = published("ood", "llmbar-natural", same_items=True)
    [whole] = published("ood", None, same_items=False)
    for judge, accuracy in whole.accuracies(None).items():
        right = sum(count * table.accuracies(name)[judge] for name, count in pairs.items())
        assert right / 554 == pytest.approx(accuracy, abs=0.005)


def test_rewardbench_has_the_subsets_of_chat_hard() -> None:
    [table] = published("rewardbench", "mt-bench-hard", same_items=True)
    assert table.tables.keys() == CHAT_HARD.keys()
    assert table.accuracies("mt-bench-hard") == {"Qwen3-8B": 0.65, "GRPO-8B": 0.68}


def test_llmbar_has_whole_numbers_of_pairs_in_both_orders() -> None:
    sizes = {"Natural": 100, "Neighbor": 134, "GPTInst": 92, "GPTOut": 47, "Manual": 46}
    for name, size in sizes.items():
        [table] = published("llmbar", name, same_items=True)
        assert len(table.accuracies(name)) >= 12
        for accuracy in table.accuracies(name).values():
            assert round(accuracy * 2 * size) / (2 * size) == pytest.approx(accuracy, abs=0.00006)
