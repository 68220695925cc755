import json
from pathlib import Path
from typing import Any

import pytest
from longjudgebench_factories import WEIGHTS, toy_checkout

from judge_r1.benchmarks.base import BadBenchmark, Order
from judge_r1.benchmarks.longjudgebench.benchmark import read_queries
from judge_r1.benchmarks.longjudgebench.deep_research_bench import criteria_of
from judge_r1.benchmarks.longjudgebench.query import Query
from judge_r1.benchmarks.longjudgebench.requests import answer_reader as reader
from judge_r1.benchmarks.longjudgebench.subset import parse_subset
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, PairwiseVerdict, ScoresVerdict, Verdict


def read(root: Path, subset: str, answer: Any, order: Order | None = None, place: int = 0) -> Verdict:
    options = parse_subset(subset)
    query: Query = read_queries(root, options)[place]
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return reader(query, options, order or tuple(range(len(query.systems))))(text)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_checkout(tmp_path_factory.mktemp("checkout"))


def dimension(*scores: float, names: tuple[str, ...] = ("breadth", "depth")) -> list[dict[str, Any]]:
    return [
        {"criterion": name, "analysis": "", "target_score": score} for name, score in zip(names, scores, strict=True)
    ]


def test_a_plain_score_is_read(root: Path) -> None:
    assert read(root, "deepresearch_bench", {"overall_score": "7/10"}, (0,)) == ScoresVerdict(scores=(7.0,))
    assert read(root, "realdr", {"overall_score": 11}, (0,)) == InvalidVerdict(reason="out_of_range")
    assert read(root, "realdr", "I cannot.", (0,)) == InvalidVerdict(reason="no_json")


def test_a_rubric_is_weighted_twice_by_the_text_of_its_criteria(root: Path) -> None:
    straight = dict.fromkeys(WEIGHTS, dimension(8, 4))
    turned = dict.fromkeys(WEIGHTS, dimension(4, 8, names=("Depth: how deep", "[Weight: 0.75] Breadth")))
    for answer in (straight, turned):
        verdict = read(root, "deepresearch_bench:rubric", answer, (0,))
        assert isinstance(verdict, ScoresVerdict)
        assert verdict.scores == pytest.approx([0.75 * 8 + 0.25 * 4])
    by_place = read(root, "deepresearch_bench:rubric:paper", turned, (0,))
    assert isinstance(by_place, ScoresVerdict)
    assert by_place.scores == pytest.approx([0.75 * 4 + 0.25 * 8])


def test_dimensions_count_by_the_weights_of_the_task(root: Path) -> None:
    answer = {name: dimension(float(place), float(place)) for place, name in enumerate(WEIGHTS)}
    verdict = read(root, "deepresearch_bench:rubric", answer, (0,))
    assert isinstance(verdict, ScoresVerdict)
    assert verdict.scores == pytest.approx([0.3 * 1 + 0.2 * 2 + 0.1 * 3])


@pytest.mark.parametrize("names", [("unheard of", "depth"), ("depth", "depth"), ("", "depth")])
def test_criteria_that_do_not_match_one_to_one_count_alike(root: Path, names: tuple[str, ...]) -> None:
    answer = dict.fromkeys(WEIGHTS, dimension(8, 4, names=names))
    verdict = read(root, "deepresearch_bench:rubric", answer, (0,))
    assert isinstance(verdict, ScoresVerdict)
    assert verdict.scores == pytest.approx([6.0])


def test_a_rubric_without_a_dimension_is_invalid(root: Path) -> None:
    answer = {name: dimension(8, 4) for name in list(WEIGHTS)[1:]}
    assert read(root, "deepresearch_bench:rubric", answer, (0,)) == InvalidVerdict(reason="missing_field")


def test_realdr_weights_its_three_scores(root: Path) -> None:
    answer = {"logical_structure_score": 8, "expression_score": 6, "bias_check_score": 2}
    verdict = read(root, "realdr:rubric", answer, (0,))
    assert isinstance(verdict, ScoresVerdict)
    assert verdict.scores == pytest.approx([0.5 * 8 + 0.3 * 6 + 0.2 * 2])
    assert read(root, "realdr:rubric", {"expression_score": 1}, (0,)) == InvalidVerdict(reason="missing_field")


def test_a_listing_is_read_whole_in_part_and_without_the_reference(root: Path) -> None:
    answer = {letter: {"structural_score": score} for letter, score in zip("ABCD", (5, 4, 3, 2), strict=True)}
    assert read(root, "surge:structure", answer) == ScoresVerdict(scores=(5, 4, 3, 2))
    assert read(root, "surge:structure:reference", answer) == ScoresVerdict(scores=(4, 3, 2))
    del answer["C"]
    assert read(root, "surge:structure", answer) == ChecklistVerdict(scores={"A": 5, "B": 4, "D": 2})
    assert read(root, "surge:structure", {"E": 1}) == InvalidVerdict(reason="missing_field")
    assert read(root, "surge:content", {"A": {"structural_score": 5}}) == InvalidVerdict(reason="missing_field")
    assert read(root, "surge:content", {"A": 5, "B": 6}) == InvalidVerdict(reason="out_of_range")


def test_preferences_are_read(root: Path) -> None:
    assert read(root, "wp_bench", {"preferred_response": "b"}) == PairwiseVerdict(winner="B")
    assert read(root, "wp_bench", {"preferred_response": "tie"}) == InvalidVerdict(reason="bad_value")
    assert read(root, "ma", {"preferred_insights_consistency": "Tie"}) == PairwiseVerdict(winner="tie")
    assert read(root, "ma", {"preferred": "A"}) == InvalidVerdict(reason="missing_field")


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"verdict": "Yes", "score": 1}, ScoresVerdict(scores=(1.0,))),
        ({"verdict": "no"}, ScoresVerdict(scores=(0.0,))),
        ({"score": "0"}, ScoresVerdict(scores=(0.0,))),
        ({"verdict": "Yes", "score": 0}, InvalidVerdict(reason="contradiction")),
        ({"score": 0.5}, InvalidVerdict(reason="bad_value")),
        ({"note": 1}, InvalidVerdict(reason="missing_field")),
    ],
)
def test_a_verification_must_not_contradict_itself(root: Path, answer: dict[str, Any], verdict: Verdict) -> None:
    assert read(root, "verify_bench_hard", answer) == verdict


def test_the_release_takes_the_score_of_a_contradiction(root: Path) -> None:
    answer = {"verdict": "Yes", "score": 0}
    assert read(root, "verify_bench_hard:paper", answer) == ScoresVerdict(scores=(0.0,))


def test_criteria_that_cannot_be_read_are_named() -> None:
    with pytest.raises(BadBenchmark, match="criteria, id 3: criteria_text must list weighted criteria"):
        criteria_of("Dimension: Insight (dimension_weight: 1)\n  - [Weight: 1] x: y", "criteria, id 3")
