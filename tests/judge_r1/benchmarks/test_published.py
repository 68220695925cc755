"""The files of published results, and how a subset selects a table."""

from statistics import fmean

import pytest
from pydantic import ValidationError

from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.benchmarks.longjudgebench.subset import parse_subset
from judge_r1.benchmarks.published import PublishedTable, published, published_tables
from judge_r1.benchmarks.rewardbench import CHAT_HARD
from judge_r1.statistics.correlation import spearman

FIELDS = {
    "schema": 1, "benchmark": "b", "source": "S, Table 1", "date": "2026", "same_items": True, "note": "n",
    "ignored": ["paper"],
}  # fmt: skip
TABLE = PublishedTable.model_validate({
    **FIELDS, "tables": {"": {"x": 0.5}, "one:two": {"y": 0.25}}, "measures": {"m": {"one": {"z": -3.0}}},
})  # fmt: skip
OTHERS = {"GPT-4", "ChatGPT", "ChatGPT-0301", "LLaMA2", "PaLM2", "Falcon"}


def whole(value: float, count: float) -> bool:
    """Whether a share that was printed with one digit of percent is a number of `count`."""
    return abs(round(value * count) / count - value) <= 0.000505


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


def test_longjudgebench_has_the_averages_that_its_paper_states() -> None:
    """The mean of a column over the four settings (or two) and eight judges (paper, section 5.1), and the columns of
    averages in Tables 3, 5 and 6."""
    [table] = published("longjudgebench", "ma:vanilla:paper", same_items=True)
    columns_of = table.measures["released"]
    assert table.measured("ma")["released"]["Qwen3-Max"] == 0.5389
    assert not table.tables, "accuracy is Eq. 6 here and another count in the paper"
    for key in {key for subsets in table.measures.values() for key in subsets}:
        parse_subset(key if key in columns_of else f"all:{key}".rstrip(":"))
    means = {
        "verify_bench_hard": 0.6742, "deepresearch_bench": 0.6454, "realdr": 0.4393, "ma": 0.4983, "wp_bench": 0.5776,
    }  # fmt: skip
    for name, mean in means.items():
        values = [v for key, judges in columns_of.items() if key.split(":")[0] == name for v in judges.values()]
        assert fmean(values) == pytest.approx(mean, abs=0.00006)
    settings = {"rubric", "reference", "rubric_reference"}
    for setting in ("", *settings):
        columns = [key for key in columns_of if set(key.split(":")) & settings == ({setting} - {""})]
        for judge, printed in table.measured(f"all:{setting}")["avg_released"].items():
            assert fmean(columns_of[key][judge] for key in columns) == pytest.approx(printed, abs=0.0001)


@pytest.mark.parametrize(("measure", "printed"), [("spearman", 0.5399), ("kendall", 0.4949)])
def test_longjudgebench_has_correlations_of_four_columns(measure: str, printed: float) -> None:
    """The mean of the four columns is the last one of Tables 5 and 6 (here its first row)."""
    [table] = published("longjudgebench", "realdr", same_items=True)
    columns = ("deepresearch_bench", "realdr", "surge:structure", "surge:content")
    found = [table.measured(column)[measure]["Qwen3-32B (w/o thinking)"] for column in columns]
    assert fmean(found) == pytest.approx(printed, abs=0.0001)
    assert measure not in table.measured("ma")


def test_longjudgebench_tables_3_and_4_agree() -> None:
    """Of two votes on a pair, an inconsistent pair has one right: right answers minus such pairs are an even number."""
    [table] = published("longjudgebench", "wp_bench", same_items=True)
    inconsistent, released = (table.measured("wp_bench")[name] for name in ("inconsistent", "released"))
    assert len(inconsistent) == 8
    for judge, share in inconsistent.items():
        right = round(526 * released[judge])
        assert (right - round(263 * share)) % 2 == 0


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


def test_ood_has_the_applications_that_the_reader_has() -> None:
    assert published("ood", "llmbar-natural", same_items=True)[0].accuracies("llmbar-natural") == {
        "Qwen3-8B": 0.65,
        "GRPO-8B": 0.72,
    }
    assert published("ood", None, same_items=True) == []
    [found] = published("ood", None, same_items=False)
    assert found.accuracies(None) == {"Qwen3-8B": 0.496, "GRPO-8B": 0.574}


def test_the_applications_and_the_whole_set_of_the_paper_agree() -> None:
    """Table 15 is the mean of Table 5 over 554 pairs, within the rounding of Table 5."""
    pairs = {**CHAT_HARD, "judge-bench-reasoning": 98}
    [table] = published("ood", "llmbar-natural", same_items=True)
    [everything] = published("ood", None, same_items=False)
    for judge, accuracy in everything.accuracies(None).items():
        right = sum(count * table.accuracies(name)[judge] for name, count in pairs.items())
        assert right / 554 == pytest.approx(accuracy, abs=0.005)


def test_judgebench_has_whole_numbers_of_pairs() -> None:
    sizes = {"Knowledge": 154, "Reasoning": 98, "Math": 56, "Coding": 42}
    [table] = published("judgebench", "gpt-4o-2024-05-13", same_items=True)
    assert len(table.accuracies("gpt-4o-2024-05-13")) == 29
    for judge, accuracy in table.accuracies("gpt-4o-2024-05-13").items():
        right = 0
        for category, size in sizes.items():
            [*_, by_category] = [t for t in published("judgebench", category, same_items=False) if "Math" in t.tables]
            value = by_category.accuracies(category)[judge]
            right += round(size * value)
            assert round(size * value) / size == pytest.approx(value, abs=0.0001)
        assert right / 350 == pytest.approx(accuracy, abs=0.0001)


def test_judgebench_has_the_reasoning_pairs_of_lrbench() -> None:
    tables = published("judgebench", "Reasoning", same_items=False)
    judges = {judge: value for table in tables for judge, value in table.accuracies("Reasoning").items()}
    assert len(judges) == 31
    assert (judges["GRPO-8B"], judges["Qwen3-8B"], judges["Skywork-LLaMA-3.1-70B"]) == (0.5816, 0.4082, 0.551)
    assert published("judgebench", "Reasoning", same_items=True) == []


def test_rewardbench_has_whole_numbers_of_half_points() -> None:
    [section] = published("rewardbench", "Chat Hard", same_items=True)
    for judge, accuracy in section.accuracies("Chat Hard").items():
        points = 0.0
        for subset, size in CHAT_HARD.items():
            value = section.accuracies(subset)[judge]
            assert whole(value, 2 * size)
            points += round(2 * size * value) / 2
        assert points / 456 == pytest.approx(accuracy, abs=0.000505)
    measured = section.measured(None)
    assert list(measured) == ["Chat", "Chat Hard", "Safety", "Reasoning"]
    assert measured["Chat Hard"] == section.accuracies("Chat Hard")


def test_rewardbench_has_the_subsets_of_lrbench() -> None:
    tables = published("rewardbench", "mt-bench-hard", same_items=True)
    [own] = [table for table in tables if "LRBench" in table.source]
    assert own.tables.keys() == CHAT_HARD.keys()
    assert own.accuracies("mt-bench-hard") == {"Qwen3-8B": 0.65, "GRPO-8B": 0.68}


def test_llmbar_has_whole_numbers_of_pairs_in_both_orders() -> None:
    sizes = {"Natural": 100, "Neighbor": 134, "GPTInst": 92, "GPTOut": 47, "Manual": 46}
    for name, size in sizes.items():
        [table] = published("llmbar", name, same_items=True)
        judges, equal = table.accuracies(name), table.measured(name)["equal"]
        assert {judge.split(" ")[0] for judge in equal} == OTHERS
        assert judges.keys() >= equal.keys()
        assert len(judges) == len(equal) + 5 + 2, "ratings and reward models have no agreement of orders"
        assert all(whole(accuracy, 2 * size) for accuracy in judges.values())
        assert all(whole(agreement, size) for agreement in equal.values())


def test_hellobench_has_the_averages_of_its_tasks() -> None:
    [table] = published("hellobench", "responses=x,weights=average", same_items=True)
    measured = table.measured("responses=x")
    for system, average in measured["S AVG"].items():
        tasks = [measured[f"S {task}"][system] for task in ("OEQA", "Summ", "Chat", "TC", "HTG")]
        assert fmean(tasks) == pytest.approx(average, abs=0.0151)
    assert len(measured["S HTG-16k"]) == 9


def test_rankjudge_has_the_ratings_of_table_4_in_order() -> None:
    [table] = published("rankjudge", "both", same_items=False)
    found = table.measured("both")
    ratings = list(found["Elo"].values())
    assert len(ratings) == 21
    assert ratings == sorted(ratings, reverse=True)
    # A slip of a digit that changes an order changes a correlation of the columns.
    columns = [list(found[name].values()) for name in ("Elo", "ML", "Med", "Fin")]
    assert [round(spearman(ratings, column) or 0, 3) for column in columns[1:]] == [0.984, 0.991, 0.974]
    assert round(spearman(columns[1], columns[3]) or 0, 3) == 0.949
    assert all(
        found[f"{name} ±"].keys() == found["Elo"].keys()
        and min(found[f"{name} ±"].values()) > min(found["Elo ±"].values())
        for name in ("ML", "Med", "Fin")
    ), "a domain has fewer pairs than all of them, so its intervals are wider"
