"""Chains of runs: the recipe that another one starts from runs first, once, in a sibling folder."""

import shutil
from pathlib import Path

import pytest
from factories import mini_pairs
from toy_model import toy_model
from typer.testing import CliRunner

from data_builders.build import write_pairs
from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.training.recipe import load_recipe
from judge_r1.training.run_folder import RunFolder, finished
from judge_r1.training.stage_graph import remaining_stages, stage_runs

FIRST = """
name: first
stage: sft
model: {model}
data: {{train: {data}}}
episode: {{context: none, prompt: compact, retriever: bm25, prompt_tokens: 400,
  budget: {{max_searches: 6, top_k: 1, passage_words: 3, response_tokens: 96, observation_tokens: 32}}}}
sft: {{rationales: mini, max_steps: 1, batch_size: 4, micro_batch_size: 4}}
"""


def write_recipes(folder: Path) -> Path:
    write_pairs(mini_pairs(8), folder / "data")
    (folder / "first.yaml").write_text(FIRST.format(model=toy_model(), data=folder / "data"))
    (folder / "second.yaml").write_text("extends: first.yaml\nname: second\nstart: first.yaml\n")
    third = "extends: first.yaml\nname: third\nstart: {extends: second.yaml, seed: 3}\n"
    (folder / "third.yaml").write_text(third)
    return folder


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    return write_recipes(tmp_path)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recipes, with the chain of `second.yaml` trained in `out`."""
    folder = write_recipes(tmp_path_factory.mktemp("chain"))
    train(folder / "second.yaml", "--out", folder / "out" / "second")
    return folder


def test_each_run_of_a_chain_starts_from_the_model_of_the_previous_one(recipes: Path) -> None:
    chain = stage_runs(load_recipe(recipes / "third.yaml"), recipes / "out" / "mine")
    assert [folder.name for _, folder in chain] == ["first", "second", "mine"]
    assert [recipe.model for recipe, _ in chain] == [
        str(toy_model()),
        str(recipes / "out" / "first" / "model"),
        str(recipes / "out" / "second" / "model"),
    ]
    assert [recipe.seed for recipe, _ in chain] == [0, 3, 0]


def test_a_run_cannot_start_from_its_own_folder(recipes: Path) -> None:
    with pytest.raises(JudgeError, match="rename one"):
        stage_runs(load_recipe(recipes / "second.yaml"), recipes / "first")


def test_stages_before_a_finished_run_are_skipped(recipes: Path) -> None:
    chain = stage_runs(load_recipe(recipes / "third.yaml"), recipes / "out" / "third")
    assert remaining_stages(chain) == chain
    (recipes / "out" / "second" / "model").mkdir(parents=True)
    assert remaining_stages(chain) == chain  # the model folder is empty
    (recipes / "out" / "second" / "model" / "config.json").write_text("{}")
    assert [recipe.name for recipe, _ in remaining_stages(chain)] == ["second", "third"]
    (recipes / "out" / "third" / "model").mkdir(parents=True)
    (recipes / "out" / "third" / "model" / "config.json").write_text("{}")
    assert [recipe.name for recipe, _ in remaining_stages(chain)] == ["third"]


def train(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["train", *map(str, arguments)])
    if result.exit_code:
        raise JudgeError(result.output)
    return result.stdout


def test_train_runs_missing_stages_and_refuses_a_changed_start(trained: Path) -> None:
    first, second = trained / "out" / "first", trained / "out" / "second"
    assert finished(second)
    assert finished(first)
    assert load_recipe(second / "recipe.yaml").model == str(first / "model")
    stamp = (first / "model" / "config.json").stat().st_mtime_ns
    train(trained / "second.yaml", "seed=1", "--out", trained / "out" / "other")
    assert (first / "model" / "config.json").stat().st_mtime_ns == stamp
    with pytest.raises(JudgeError, match="holds a run of another recipe"):
        train(trained / "second.yaml", "start.seed=5", "--out", trained / "out" / "more")


def test_a_last_stage_of_another_recipe_is_refused_before_the_first_one_trains(recipes: Path) -> None:
    out = recipes / "new"
    RunFolder(out / "second", load_recipe(recipes / "first.yaml")).log({"step": 1})
    with pytest.raises(JudgeError, match="second holds a run of another recipe"):
        train(recipes / "second.yaml", "--out", out / "second")
    assert [path.name for path in out.iterdir()] == ["second"]


def test_a_finished_run_keeps_the_versions_that_trained_it(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained / "out" / "first", tmp_path / "first")
    versions = tmp_path / "first" / "versions.json"
    versions.write_text('{"torch": "1.0"}')
    said = train(trained / "first.yaml", "--out", versions.parent)
    assert f"the run in {versions.parent} is complete (1 step), so nothing was trained: to train more, start" in said
    assert versions.read_text() == '{"torch": "1.0"}'


@pytest.mark.parametrize("done", [True, False], ids=["finished", "unfinished"])
def test_a_run_whose_data_have_changed_is_refused(done: bool, recipes: Path) -> None:
    run, pairs, data = recipes / "run", recipes / "data" / "pairs.jsonl", recipes / "run" / "data.json"
    train(recipes / "first.yaml", "--out", run)
    if not done:
        shutil.rmtree(run / "model")
    original, recorded = pairs.read_bytes(), data.read_bytes()
    pairs.write_bytes(b"".join(reversed(original.splitlines(keepends=True))))
    with pytest.raises(JudgeError, match=f"{pairs} has changed since the run in {run} began: choose another --out, or"):
        train(recipes / "first.yaml", "--out", run)
    assert data.read_bytes() == recorded
    data.write_text('{"pairs": 8, "cases": 8}')
    with pytest.raises(JudgeError, match=r"data\.json.*files"):
        train(recipes / "first.yaml", "--out", run)
    data.write_bytes(recorded)
    pairs.write_bytes(original)
    train(recipes / "first.yaml", "--out", run)
    assert finished(run)


def test_an_option_that_no_stage_can_use_is_refused_before_training(recipes: Path) -> None:
    refusals = {
        ("--nodes", 2): "2 nodes need a running Ray cluster",
        ("--gpus-per-node", 4): "is for several nodes and",
    }
    for option, reason in refusals.items():
        with pytest.raises(JudgeError, match=reason):
            train(recipes / "second.yaml", *option, "--out", recipes / "out" / "second")
    grpo = ("stage=grpo", "start.stage=grpo", "--out", recipes / "out" / "second")
    with pytest.raises(JudgeError, match="recipe second: --processes is for sft and dpo"):
        train(recipes / "second.yaml", *grpo, "--processes", 2)
    assert not (recipes / "out").exists()


def test_torchrun_refuses_a_chain(recipes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its other processes would not wait until the first one has saved the model."""
    launched = {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}
    for name, value in launched.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(JudgeError, match="third starts from second, which is not trained yet: torchrun trains one"):
        train(recipes / "third.yaml", "--out", recipes / "out" / "third")


def test_a_dry_run_marks_skipped_stages(recipes: Path) -> None:
    (recipes / "out" / "second" / "model").mkdir(parents=True)
    (recipes / "out" / "second" / "model" / "config.json").write_text("{}")
    shown = train(recipes / "third.yaml", "--dry-run", "--out", recipes / "out" / "third")
    assert [line for line in shown.splitlines() if "this stage is skipped" in line] == [
        "#   a model trained from it exists already: this stage is skipped",
        "#   its model exists already: this stage is skipped",
    ]


def test_a_dry_run_prints_a_loadable_recipe_and_trains_nothing(recipes: Path) -> None:
    shown = train(recipes / "second.yaml", "--dry-run", "--out", recipes / "out" / "second")
    (recipes / "shown.yaml").write_text(shown)
    assert load_recipe(recipes / "shown.yaml") == load_recipe(recipes / "second.yaml")
    assert "data: 8 pairs" in shown
    assert "in the data (the model's tokenizer)" in shown
    assert not (recipes / "out").exists()
