from pathlib import Path

import pytest
from factories import mini_pairs
from paths import RECIPES

from data_builders.build import write_pairs
from data_builders.rationales.rules import recipe_rationales
from judge_r1.training import pipeline
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import load_recipe
from judge_r1.training.resources import LOCAL
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl import sft

RECIPE = RECIPES / "mini" / "warmup.yaml"


def test_a_shortage_of_examples_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pairs(mini_pairs(10), tmp_path / "data")
    trained: list[int] = []
    monkeypatch.setattr(sft, "train_sft", lambda recipe, examples, run, dev: trained.append(len(examples())))
    overrides = [f"data.train={tmp_path / 'data'}", "episode.budget.max_searches=1"]
    run_recipe(load_recipe(RECIPE, [*overrides, "sft.examples=3"]), tmp_path / "enough", rationales=recipe_rationales)
    assert "wanted" not in capsys.readouterr().out
    run_recipe(load_recipe(RECIPE, [*overrides, "sft.examples=12"]), tmp_path / "short", rationales=recipe_rationales)
    assert trained[0] == 3
    assert f"{trained[1]} of 12 wanted examples; rejected: search_refused: {10 - trained[1]}" in capsys.readouterr().out


@pytest.mark.parametrize(("rank", "built"), [("0", 1), ("1", 0)])
def test_one_of_several_processes_builds_the_index(
    rank: str, built: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the first process writes rationales. On GPUs, each builder would load the embedder in one more process."""
    write_pairs(mini_pairs(4), tmp_path / "data")
    recipe = load_recipe(RECIPE, [f"data.train={tmp_path / 'data'}"])
    run, builds = RunFolder(tmp_path / "run", recipe), []
    monkeypatch.setattr(pipeline, "build_index", lambda folder, *args, **options: builds.append(folder))
    monkeypatch.setattr(sft, "train_sft", lambda *args: None)
    monkeypatch.setenv("RANK", rank)
    pipeline._train(recipe, run, LOCAL, recipe_rationales)
    assert builds == [tmp_path / "data"] * built
