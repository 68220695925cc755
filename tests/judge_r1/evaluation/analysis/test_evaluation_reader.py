"""Reading a finished evaluation, and rejecting incomplete ones."""

import json
from pathlib import Path

import pytest
from analysis_factories import answer, evaluate_judges, right, toy_folder, wrong
from evaluation_digests import edit_summary
from evaluation_factories import toy_case, toy_pairs

from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, read_evaluation, writing
from judge_r1.evaluation.votes import EvaluationError
from judge_r1.files.pair_set import PairSet


def test_read_evaluation_returns_scores_settings_and_clusters(tmp_path: Path) -> None:
    says = {"good": lambda p, a: answer(right(p, a)), "bad": lambda p, a: answer(wrong(p, a))}
    good, bad = evaluate_judges(tmp_path, says, settings={"prompt": "compact"})
    assert [good.name, bad.name] == ["good", "bad"]
    assert set(good.credits.values()) == {1.0}
    assert set(bad.credits.values()) == {0.0}
    assert good.members == [("agentic@toy", {"prompt": "compact"})]
    pairs = {pair.pair_id: pair.case_id for pair in toy_pairs(6)}
    assert good.clusters == pairs


def test_panel_is_chosen_by_name_and_a_near_name_is_suggested(tmp_path: Path) -> None:
    evaluate_judges(tmp_path, {name: lambda p, a: answer("A>B") for name in ("warm", "grpo")})
    [only] = read_evaluation(tmp_path / "eval", tmp_path / "pairs", rows=["grpo"])
    assert only.name == "grpo"
    with pytest.raises(AnalysisError, match=r"no judge 'grop' in summary.json; did you mean 'grpo'\?"):
        read_evaluation(tmp_path / "eval", tmp_path / "pairs", rows=["grop"])


def test_unfinished_evaluation_is_rejected(tmp_path: Path) -> None:
    evaluate_judges(tmp_path, {"row": lambda p, a: answer("A>B")})
    votes = tmp_path / "eval" / "votes.jsonl"
    votes.write_text("".join(votes.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(EvaluationError, match=r"'row' has 47 votes and not the 48 that summary.json was.*--resume"):
        read_evaluation(tmp_path / "eval", tmp_path / "pairs")


def test_missing_vote_of_a_panel_is_rejected(tmp_path: Path) -> None:
    """Such as one whose server failed: the evaluation ended without it."""
    evaluate_judges(tmp_path, {"row": lambda p, a: answer("A>B")}, orders=2)
    votes = tmp_path / "eval" / "votes.jsonl"
    votes.write_text("".join(votes.read_text().splitlines(keepends=True)[:-1]))
    edit_summary(tmp_path / "eval")
    with pytest.raises(AnalysisError, match="lacks votes on some items"):
        read_evaluation(tmp_path / "eval", tmp_path / "pairs")


def test_pairs_of_another_folder_are_rejected(tmp_path: Path) -> None:
    evaluate_judges(tmp_path, {"row": lambda p, a: answer("A>B")})
    toy_folder(tmp_path / "less", PairSet.of(map(toy_case, range(6)), toy_pairs(6)[:-3]))
    with pytest.raises(AnalysisError, match=r"judged item .* does not hold"):
        read_evaluation(tmp_path / "eval", tmp_path / "less")


def test_folder_without_an_evaluation_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match=r"no finished evaluation \(summary.json, rows.json and votes.jsonl\)"):
        read_evaluation(tmp_path, tmp_path)


def test_panels_without_text_are_rejected(tmp_path: Path) -> None:
    silent = answer("A>B").model_copy(update={"turns": ()})
    mute, loud = evaluate_judges(tmp_path, {"mute": lambda p, a: silent, "loud": lambda p, a: answer("A>B")})
    assert [each.name for each in writing([mute, loud])] == ["loud"]
    with pytest.raises(AnalysisError, match="no judge wrote text: mute"):
        writing([mute])


def test_panel_has_the_settings_of_each_member(tmp_path: Path) -> None:
    [row] = evaluate_judges(tmp_path, {"row": lambda p, a: answer("A>B")}, orders=2, settings={"prompt": "direct"})
    [member] = row.members
    assert member.judge == "agentic@toy"
    assert member.settings["prompt"] == "direct"


def test_rows_json_equals_what_the_runner_wrote(tmp_path: Path) -> None:
    evaluate_judges(tmp_path, {"row": lambda p, a: answer("A>B")})
    assert set(json.loads((tmp_path / "eval" / "rows.json").read_text())["row"]) == {"judge", "settings", "items"}
