import pytest

from judge_r1.benchmarks.longjudgebench.subset import SETS, SubsetOptions, parse_subset
from judge_r1.files.yaml_config import ConfigError


def test_options_in_any_order() -> None:
    expected = SubsetOptions(parts=("surge",), setting="rubric", dimensions=("structure",), topic=True)
    assert parse_subset("surge,dimensions=structure,setting=rubric,topic=true") == expected
    assert parse_subset("topic=true,setting=rubric,surge,dimensions=structure") == expected
    assert parse_subset("surge,dimensions=structure/content") == parse_subset("surge")


def test_default_subset_is_all_sets() -> None:
    assert parse_subset(None) == parse_subset("all")
    assert parse_subset("all").sets == SETS
    assert parse_subset("all,setting=reference").reference
    assert not parse_subset("all,setting=rubric").reference


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        ("wp_benhc", "no set 'wp_benhc'; did you mean 'wp_bench'"),
        ("ma,surge", "name one set, or all, not ma, surge"),
        ("ma,setting=rubrik", "field setting: Input should be 'vanilla', 'rubric'"),
        ("ma,seting=rubric", "unknown key seting; did you mean 'setting'"),
        ("ma,dimensions=structure", "only surge has dimensions"),
        ("wp_bench,setting=reference", "has no references"),
        ("ma,search=true,setting=rubric", "search does not support rubrics"),
        ("ma,search=true,paper=true", "the paper has no search"),
        ("ma,key_insights=true", "use it as ma,setting=reference,key_insights=true"),
        ("all,setting=reference,key_insights=true", "use it as ma,setting=reference,key_insights=true"),
        ("ma,setting=reference,key_insights=true,paper=true", "the paper's reference is the conclusion"),
    ],
)
def test_invalid_subsets_are_rejected(subset: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_subset(subset)
