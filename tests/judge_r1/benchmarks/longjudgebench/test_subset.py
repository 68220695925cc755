import pytest

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.longjudgebench.scope import SETS, Scope, scope_of


def test_words_after_the_set_come_in_any_order() -> None:
    expected = Scope(("surge",), "rubric", ("structure",), topic=True)
    assert scope_of("surge:structure:rubric:topic") == scope_of("surge:topic:rubric:structure") == expected


def test_without_a_subset_all_sets_are_asked_plainly() -> None:
    assert scope_of(None) == scope_of("all") == Scope(SETS)
    assert scope_of("all:reference").reference
    assert not scope_of("all:rubric").reference


@pytest.mark.parametrize(
    ("setting", "mode"),
    [("vanilla", "vanilla"), ("rubric", "vanilla_rubric"), ("rubric_reference", "vanilla_rubric_reference")],
)
def test_modes_are_named_as_the_prompt_files(setting: str, mode: str) -> None:
    assert scope_of(f"ma:{setting}").mode == mode


@pytest.mark.parametrize(
    ("subset", "complaint"),
    [
        ("wp_benhc", "no set 'wp_benhc'; did you mean 'wp_bench'"),
        ("ma:rubrik", "'rubrik' says nothing; did you mean 'rubric'"),
        ("ma:rubric:reference", "one setting"),
        ("ma:paper:paper", "each word once"),
        ("ma:structure", "only surge has the dimension"),
        ("wp_bench:reference", "has no references"),
        ("ma:search:rubric", "no rubric is shown"),
        ("ma:search:paper", "cannot be both"),
    ],
)
def test_a_subset_that_says_nothing_is_refused(subset: str, complaint: str) -> None:
    with pytest.raises(BadBenchmark, match=complaint):
        scope_of(subset)
