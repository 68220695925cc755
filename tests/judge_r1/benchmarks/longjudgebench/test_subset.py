import pytest

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.longjudgebench.subset import SETS, SubsetOptions, parse_subset


def test_options_in_any_order() -> None:
    expected = SubsetOptions(("surge",), "rubric", ("structure",), topic=True)
    assert parse_subset("surge:structure:rubric:topic") == parse_subset("surge:topic:rubric:structure") == expected


def test_default_subset_is_all_sets() -> None:
    assert parse_subset(None) == parse_subset("all") == SubsetOptions(SETS)
    assert parse_subset("all:reference").reference
    assert not parse_subset("all:rubric").reference


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        ("", "no set ''"),
        ("wp_benhc", "no set 'wp_benhc'; did you mean 'wp_bench'"),
        ("ma:rubrik", "unknown option 'rubrik'; did you mean 'rubric'"),
        ("ma:rubric:reference", "one setting"),
        ("ma:paper:paper", "each option once"),
        ("ma:structure", "only surge has the dimension"),
        ("wp_bench:reference", "has no references"),
        ("ma:search:rubric", "search does not support rubrics"),
        ("ma:search:paper", "the paper has no search"),
        ("ma:key_insights", "use it as ma:reference:key_insights"),
        ("all:reference:key_insights", "use it as ma:reference:key_insights"),
        ("ma:reference:key_insights:paper", "the paper's reference is the conclusion"),
    ],
)
def test_invalid_subsets_are_rejected(subset: str, message: str) -> None:
    with pytest.raises(BadBenchmark, match=message):
        parse_subset(subset)
