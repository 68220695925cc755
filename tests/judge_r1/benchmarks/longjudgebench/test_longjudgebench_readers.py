import json
from pathlib import Path
from typing import Any

import pytest
from longjudgebench_factories import WEIGHTS

from judge_r1.benchmarks.base import BadBenchmark, Order
from judge_r1.benchmarks.longjudgebench import read_queries
from judge_r1.benchmarks.longjudgebench.deep_research_bench import criteria_of
from judge_r1.benchmarks.longjudgebench.query import Query
from judge_r1.benchmarks.longjudgebench.requests import answer_reader as reader
from judge_r1.benchmarks.longjudgebench.subset import parse_subset
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, PairwiseVerdict, ScoresVerdict, Verdict


def read(root: Path, subset: str, answer: Any, order: Order | None = None, position: int = 0) -> Verdict:
    options = parse_subset(subset)
    query: Query = read_queries(root, options)[position]
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return reader(query, options, order or tuple(range(len(query.systems))))(text)


def dimension(*scores: float, names: tuple[str, ...] = ("breadth", "depth")) -> list[dict[str, Any]]:
    return [
        {"criterion": name, "analysis": "", "target_score": score} for name, score in zip(names, scores, strict=True)
    ]


def test_overall_score(root: Path) -> None:
    assert read(root, "deepresearch_bench", {"overall_score": "7/10"}, (0,)) == ScoresVerdict(scores=(7.0,))
    assert read(root, "realdr", {"overall_score": 11}, (0,)) == InvalidVerdict(reason="out_of_range")
    assert read(root, "realdr", "I cannot.", (0,)) == InvalidVerdict(reason="no_json")


def test_rubric_scores_are_weighted_by_criterion(root: Path) -> None:
    in_order = dict.fromkeys(WEIGHTS, dimension(8, 4))
    swapped = dict.fromkeys(WEIGHTS, dimension(4, 8, names=("Depth: how deep", "[Weight: 0.75] Breadth")))
    for answer in (in_order, swapped):
        verdict = read(root, "deepresearch_bench,setting=rubric", answer, (0,))
        assert isinstance(verdict, ScoresVerdict)
        assert verdict.scores == pytest.approx([0.75 * 8 + 0.25 * 4])
    by_position = read(root, "deepresearch_bench,setting=rubric,paper=true", swapped, (0,))
    assert isinstance(by_position, ScoresVerdict)
    assert by_position.scores == pytest.approx([0.75 * 4 + 0.25 * 8])


def test_dimensions_are_weighted_by_task(root: Path) -> None:
    answer = {name: dimension(float(position), float(position)) for position, name in enumerate(WEIGHTS)}
    verdict = read(root, "deepresearch_bench,setting=rubric", answer, (0,))
    assert isinstance(verdict, ScoresVerdict)
    assert verdict.scores == pytest.approx([0.3 * 1 + 0.2 * 2 + 0.1 * 3])


def test_missing_dimension_is_invalid(root: Path) -> None:
    answer = {name: dimension(8, 4) for name in list(WEIGHTS)[1:]}
    assert read(root, "deepresearch_bench,setting=rubric", answer, (0,)) == InvalidVerdict(reason="missing_field")


def test_realdr_scores_are_weighted(root: Path) -> None:
    answer = {"logical_structure_score": 8, "expression_score": 6, "bias_check_score": 2}
    verdict = read(root, "realdr,setting=rubric", answer, (0,))
    assert isinstance(verdict, ScoresVerdict)
    assert verdict.scores == pytest.approx([0.5 * 8 + 0.3 * 6 + 0.2 * 2])
    assert read(root, "realdr,setting=rubric", {"expression_score": 1}, (0,)) == InvalidVerdict(reason="missing_field")


def test_listing_answers(root: Path) -> None:
    answer = {letter: {"structural_score": score} for letter, score in zip("ABCD", (5, 4, 3, 2), strict=True)}
    assert read(root, "surge,dimensions=structure", answer) == ScoresVerdict(scores=(5, 4, 3, 2))
    assert read(root, "surge,dimensions=structure,setting=reference", answer) == ScoresVerdict(scores=(4, 3, 2))
    del answer["C"]
    assert read(root, "surge,dimensions=structure", answer) == ChecklistVerdict(scores={"A": 5, "B": 4, "D": 2})
    assert read(root, "surge,dimensions=structure", {"E": 1}) == InvalidVerdict(reason="missing_field")
    assert read(root, "surge,dimensions=content", {"A": {"structural_score": 5}}) == InvalidVerdict(
        reason="missing_field"
    )
    assert read(root, "surge,dimensions=content", {"A": 5, "B": 6}) == InvalidVerdict(reason="out_of_range")


def test_preference_answers(root: Path) -> None:
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
def test_verification_answers(root: Path, answer: dict[str, Any], verdict: Verdict) -> None:
    assert read(root, "verify_bench_hard", answer) == verdict


def test_released_verification_uses_only_the_score(root: Path) -> None:
    answer = {"verdict": "Yes", "score": 0}
    assert read(root, "verify_bench_hard,paper=true", answer) == ScoresVerdict(scores=(0.0,))


def test_malformed_criteria_are_reported() -> None:
    with pytest.raises(BadBenchmark, match="criteria, id 3: criteria_text must list weighted criteria"):
        criteria_of("Dimension: Insight (dimension_weight: 1)\n  - [Weight: 1] x: y", "criteria, id 3")
