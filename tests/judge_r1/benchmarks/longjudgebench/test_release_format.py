import io
import json
from pathlib import Path
from typing import Any

import pytest
from longjudgebench_factories import TextJudge
from rich.console import Console

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.longjudgebench import load, predictions, read_queries
from judge_r1.benchmarks.longjudgebench.query import Query
from judge_r1.benchmarks.longjudgebench.subset import parse_subset
from judge_r1.core.items import ItemResult
from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.evaluation.runner import evaluate
from judge_r1.evaluation.votes import StoredVote, stored_votes
from judge_r1.judges.panel import JudgePanel
from judge_r1.judges.request import JudgeRequest


def score(root: Path, tmp_path: Path, subset: str, lines: list[dict[str, Any]]) -> list[ItemResult]:
    file = tmp_path / "judge.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return list(predictions(root, file, subset))


def released_line(stored: StoredVote, query: Query) -> dict[str, Any]:
    """The answer of a vote as the release writes it."""
    names = [query.systems[index] for index in stored.order]
    named = {1: {"model": names[0]}, 2: {"response_a": names[0], "response_b": names[-1]}}
    text = stored.trajectory.turns[-1].text
    return {"data_id": query.ids[stored.order[0]], **named.get(len(names), {"models": names}), "response": text}


ANSWERS = {
    "DR": {"overall_score": 7},
    "RealDR": {"overall_score": "7/10"},
    "Structure": {letter: {"structural_score": score} for letter, score in zip("ABCD", (3, 4, 1, 0), strict=True)},
    "WP": {"preferred_response": "A", "response_A_score": 3},
    "MA": {"preferred_insights_consistency": "B"},
    "Verify": {"verdict": "No", "score": 0},
}


@pytest.mark.parametrize(
    "subset",
    [
        "deepresearch_bench",
        "realdr",
        "surge,dimensions=structure",
        "wp_bench",
        "wp_bench,paper=true",
        "ma",
        "verify_bench_hard",
    ],
)
def test_traces_and_released_lines_have_equal_scores(root: Path, tmp_path: Path, subset: str) -> None:
    def reply(request: JudgeRequest) -> str:
        position = request.order[0] if request.item.group in ("DR", "RealDR") else 0
        answer = {**ANSWERS[request.item.group], **({"overall_score": 9 - position} if position else {})}
        return "prose" if request.item.item_id.endswith("q2_b") else f"So: {json.dumps(answer)}"

    benchmark = load(root, subset)
    row = JudgePanel("row", (TextJudge(reply),))
    judged = evaluate(row, benchmark, out=tmp_path / "out", resume=False, console=Console(file=io.StringIO())).items
    queries = {query.item_id: query for query in read_queries(root, parse_subset(subset))}
    lines = [released_line(stored, queries[stored.item_id]) for stored in stored_votes(tmp_path / "out")]
    assert len(lines) == len(benchmark.requests())
    again = {o.item_id: o for o in score(root, tmp_path, subset, lines)}
    if subset != "deepresearch_bench":  # of which two agents of four have texts
        assert {o.item_id: o.score for o in judged} == {i: o.score for i, o in again.items()}
        assert {o.item_id: o.verdict for o in judged} == {i: o.verdict for i, o in again.items()}


def test_pairs_are_matched_by_id_and_models(root: Path, tmp_path: Path) -> None:
    lines = [
        {
            "data_id": "p0",
            "response_a": names[0],
            "response_b": names[1],
            "judge_result": {"preferred_response": preferred, "swap_position": position, "debiased": True},
        }
        for names, preferred, position in (
            (("good0", "bad0"), "A", "original"),
            (("bad0", "good0"), "B", "swapped"),
            (("good1", "bad1"), "A", "original"),
            (("bad1", "good1"), "A", "swapped"),
        )
    ]
    scores = [o.score for o in score(root, tmp_path, "wp_bench", lines)]
    assert scores == [1, 0.5, 0, 0]


def test_missing_lines_are_wrong(root: Path, tmp_path: Path) -> None:
    results = score(root, tmp_path, "deepresearch_bench", [
        {"data_id": 1, "model": agent, "response": json.dumps({"overall_score": number}), "judge_result": None}
        for agent, number in (("openai-deepresearch", 9), ("gemini-2.5-pro-deepresearch", 8), ("grok-deeper-search", 1))
    ])  # fmt: skip
    assert [o.score for o in results] == [0.5, 0]
    assert all(o.verdict == InvalidVerdict(reason="missing") for o in results)
    extra = load(root, "deepresearch_bench").metrics(results)
    assert extra["acc_strict"] == 3 / 12
    assert extra["released"] == 3 / 12
    assert (extra["spearman"], extra["spearman_zero"]) == (1, 0.5)


def test_raw_text_is_parsed_again_except_for_paper(root: Path, tmp_path: Path) -> None:
    line = {"data_id": "q1_a", "model": "m", "response": '{"verdict": "Yes"}', "judge_result": {"verdict": "No"}}
    assert score(root, tmp_path, "verify_bench_hard", [line])[0].score == 1
    assert score(root, tmp_path, "verify_bench_hard,paper=true", [line])[0].score == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"data_id": "gone"}, "data_id gone .byte 0.: the ground truth has no such id"),
        ({"data_id": "p0", "response_a": "good0", "response_b": "who"}, r"no output of \('good0', 'who'\)"),
        ({"model": "x"}, "line 1: field data_id"),
    ],
)
def test_unmatched_lines_are_reported(root: Path, tmp_path: Path, line: dict[str, Any], message: str) -> None:
    from judge_r1.core.errors import JudgeError

    with pytest.raises(JudgeError, match=message):
        score(root, tmp_path, "wp_bench", [line])


def test_repeated_line_is_reported(root: Path, tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match="an earlier line judges the same outputs"):
        score(root, tmp_path, "verify_bench_hard", [{"data_id": "q1_a", "judge_result": {"score": 1}}] * 2)


@pytest.mark.parametrize("subset", [None, "surge", "all,setting=rubric"])
def test_predictions_need_one_set(root: Path, tmp_path: Path, subset: str | None) -> None:
    with pytest.raises(BadBenchmark, match="covers one set and one setting"):
        score(root, tmp_path, subset or "all", [])


def test_files_of_failures_beside_the_outputs_are_read(root: Path, tmp_path: Path) -> None:
    ids = [query.ids[0] for query in read_queries(root, parse_subset("verify_bench_hard"))]
    for suffix, one in (("_token_exceed", ids[0]), ("_content_filter", ids[1])):
        (tmp_path / f"judge{suffix}.jsonl").write_text(json.dumps({"data_id": one, "error": "no"}) + "\n")
    found = score(root, tmp_path, "verify_bench_hard", [])
    reasons = [
        vote.verdict.reason for result in found for vote in result.votes if isinstance(vote.verdict, InvalidVerdict)
    ]
    assert reasons == ["context_overflow", "content_filter", *["missing"] * (len(ids) - 2)]
