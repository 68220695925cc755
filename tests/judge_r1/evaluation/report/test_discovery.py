"""Runs and evaluations found in folders."""

import json
import shutil
from pathlib import Path

import pytest
from run_factories import scaling_study, toy_eval, toy_run

from judge_r1.episode.config import EpisodeConfig
from judge_r1.evaluation.report.comparison import flat, recipe_grid, version_grid
from judge_r1.evaluation.report.discovery import NothingToReport, find_runs, method
from judge_r1.files.strict_json import BadJson


@pytest.mark.parametrize(
    ("stage", "context", "search", "warm", "name"),
    [
        ("sft", "full", False, False, "SFT"),
        ("sft", "none", True, False, "SFT-search"),
        ("sft", "none", False, False, "SFT-blind"),
        ("dpo", "full", False, True, "DPO"),
        ("grpo", "full", False, False, "GRPO"),
        ("grpo", "full", False, True, "Judge-R1-warm-fc"),
        ("grpo", "none", True, False, "Judge-R1-search"),
        ("grpo", "full", True, False, "Judge-R1-fc-search"),
        ("grpo", "full", True, True, "Judge-R1-warm-fc-search"),
    ],
)
def test_methods_are_named_as_in_the_paper(stage: str, context: str, search: bool, warm: bool, name: str) -> None:
    episode = EpisodeConfig.model_validate({"context": context, "search": search})
    assert method(stage, episode, warm=warm) == name


def test_runs_and_evaluations_are_found_and_linked(tmp_path: Path) -> None:
    scaling_study(tmp_path)
    runs, evaluated = find_runs([tmp_path])
    assert {run.name: (run.method, run.size) for run in runs} == {
        "warm": ("SFT", 500), "grpo21": ("GRPO", 21_000), "grpo63": ("GRPO", 63_000), "grpo105": ("GRPO", 105_000),
        "warm-fc": ("Judge-R1-warm-fc", 21_000), "search": ("Judge-R1-search", 21_000),
        "fc-search": ("Judge-R1-fc-search", 21_000), "warm-fc-search": ("Judge-R1-warm-fc-search", 21_000),
    }  # fmt: skip
    assert {name: run.name for name, run in evaluated.runs.items()} == {
        "GRPO 21K": "grpo21", "GRPO 63K": "grpo63", "GRPO 105K": "grpo105", "warm-fc": "warm-fc",
        "search": "search", "fc-search": "fc-search", "warm-fc-search": "warm-fc-search",
    }  # fmt: skip
    assert evaluated.pair_sets == 1


def test_relative_recipe_paths_are_resolved_against_parents(tmp_path: Path) -> None:
    """The recipe and the judge's SPEC name paths as they were typed, in a folder above the runs."""
    home = tmp_path / "work" / "runs"
    toy_run(home / "warm", 5, stage="sft")
    toy_run(home / "grpo", 9, model="runs/warm/model")
    toy_eval(home / "eval", {"a": ("agentic@runs/grpo/model", 0.5)})
    _, evaluated = find_runs([home])
    assert evaluated.runs["a"].method == "Judge-R1-warm-fc"


def test_ambiguous_run_names_are_not_linked(tmp_path: Path) -> None:
    for side in ("one", "two"):
        toy_run(tmp_path / side / "runs" / "grpo", 9)
    toy_eval(tmp_path / "eval", {"a": ("agentic@runs/grpo/model", 0.5)})
    runs, evaluated = find_runs([tmp_path / "one" / "runs", tmp_path / "two" / "runs" / "grpo", tmp_path / "eval"])
    assert evaluated.runs == {}
    assert [run.name for run in runs] == ["runs/grpo", "runs/grpo"]


def test_equal_row_names_get_prefixes_and_copies_count_once(tmp_path: Path) -> None:
    toy_eval(tmp_path / "e1", {"a": ("agentic@x", 0.5)})
    toy_eval(tmp_path / "e2", {"a": ("agentic@x", 0.6)}, pairs="q")
    shutil.copy(tmp_path / "e1" / "summary.json", tmp_path / "summary.json")
    _, evaluated = find_runs([tmp_path, tmp_path / "e1", tmp_path / "e2"])
    assert [row["name"] for row in evaluated.rows] == ["a", "e2/a"]
    assert evaluated.pair_sets == 2


def test_folder_without_results_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(NothingToReport, match="holds no training run"):
        find_runs([tmp_path])
    toy_run(tmp_path / "runs" / "of today" / "a", 9)
    with pytest.raises(NothingToReport, match=r"folders with recipe\.yaml below .*: .*/runs/of today/a$"):
        find_runs([tmp_path])
    toy_eval(tmp_path / "runs" / "of today" / "e", {"a": ("agentic@x", 0.5)})
    with pytest.raises(NothingToReport, match=r"folders with summary\.json below .*: .*/runs/of today/e$"):
        find_runs([tmp_path])
    shutil.rmtree(tmp_path / "runs")
    (tmp_path / "rows.json").write_text("{}")
    with pytest.raises(NothingToReport, match=r"evaluation that has not finished \(no summary\.json\).*--resume"):
        find_runs([tmp_path])
    (tmp_path / "summary.json").write_text("[]")
    with pytest.raises(BadJson, match=r"summary\.json: Input should be a valid dictionary"):
        find_runs([tmp_path])


def test_differing_recipe_keys_are_listed(tmp_path: Path) -> None:
    toy_run(tmp_path / "a", 9, seed=1)
    toy_run(tmp_path / "b", 9, seed=2, trackers=["wandb"])
    toy_run(tmp_path / "c", 9, stage="sft", grpo={"kl": 0.5})
    runs, _ = find_runs([tmp_path])
    grid = recipe_grid(runs)
    assert grid is not None
    assert grid.columns == ("key", "a", "b", "c")
    assert set(grid.rows) == {
        ("stage", "grpo", "grpo", "sft"), ("seed", "1", "2", "0"), ("trackers", "–", "wandb", "–"),
    }  # fmt: skip  # the SFT run's grpo.kl concerns nobody
    assert recipe_grid(runs[:1]) is None
    assert version_grid(runs) is None
    (tmp_path / "a" / "versions.json").write_text(json.dumps({"trl": "0.1"}))
    versions = version_grid(runs)
    assert versions is not None
    assert versions.rows[0][:2] == ("trl", "0.1")


def test_nested_sections_are_flattened() -> None:
    assert flat({"a": {"b": {"c": 1}, "d": []}, "e": None}) == {"a.b.c": 1, "a.d": [], "e": None}


def test_a_file_of_an_earlier_version_is_named(tmp_path: Path) -> None:
    (toy_run(tmp_path, 5, stage="sft") / "traces.json").write_text('{"used": 3, "rejected": {}}')
    with pytest.raises(NothingToReport, match=r"traces.json is called examples.json now: rename the file"):
        find_runs([tmp_path])
