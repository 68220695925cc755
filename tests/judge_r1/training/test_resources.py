"""Resources: checks before training starts, and the plan for several nodes."""

from pathlib import Path

import pytest
from paths import RECIPES
from turn_recipes import turn_recipe
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.training.pipeline import report
from judge_r1.training.recipe import load_recipe
from judge_r1.training.resources import LOCAL, Resources, check_resources, check_supported

PAPER, SFT = RECIPES / "paper/grpo-21k.yaml", RECIPES / "mini/json.yaml"


def test_a_refused_command_leaves_no_run_folder(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = CliRunner().invoke(app, ["train", str(SFT), f"data.train={tmp_path}", "--out", str(out)])
    assert done.exit_code == 2
    assert f"data.train {tmp_path} holds no cases.jsonl" in done.output
    assert not out.exists()


@pytest.mark.parametrize(
    ("file", "resources", "message"),
    [
        (SFT, Resources(nodes=3), "sft.batch_size 16 does not divide among 3 processes"),
        (SFT, Resources(gpus_per_node=4), "--gpus-per-node is for several nodes and for grpo with grpo.engine=verl"),
        (PAPER, Resources(processes=2), "--processes is for sft and dpo"),
        (PAPER, Resources(nodes=3, gpus_per_node=8), "160 episodes of one update do not divide among 24 accelerators"),
    ],
)
def test_resources_that_cannot_train_a_recipe(file: Path, resources: Resources, message: str, tmp_path: Path) -> None:
    stages = [(load_recipe(file), tmp_path)]
    check_supported(stages, LOCAL)
    with pytest.raises(JudgeError, match=message):
        check_supported(stages, resources)


def test_later_stages_are_checked_before_the_first_one_runs(tmp_path: Path) -> None:
    data_folder = tmp_path / "pairs"
    data_folder.mkdir()
    for name in ("cases.jsonl", "pairs.jsonl"):
        (data_folder / name).touch()
    first = load_recipe(SFT, [f"data.train={data_folder}"])
    second = load_recipe(PAPER, [f"data.train={tmp_path}"])
    with pytest.raises(JudgeError, match=r"recipe grpo-21k: data\.train"):
        check_resources([(first, tmp_path / "a"), (second, tmp_path / "b")], LOCAL)


def test_the_plan_for_two_nodes(tmp_path: Path) -> None:
    lines = report([(load_recipe(PAPER), tmp_path / "run")], "judge-r1 train", 8, 2)
    assert (
        "# With 8 GPUs on each of 2 nodes of the Ray cluster at RAY_ADDRESS, it writes verl's input files and runs:"
        in lines
    )
    plan = " ".join(lines)
    assert "trainer.nnodes=2" in plan
    assert "on two nodes" not in plan
    for recipe, engine in ((PAPER, ""), (SFT, ""), (RECIPES / "mini/grpo.yaml", " grpo.engine=verl")):
        lines = report([(load_recipe(recipe), tmp_path / "run")], "judge-r1 train", 8)
        (number,) = [number for number, line in enumerate(lines) if line.startswith("# on two nodes (`nodes: 2` in")]
        assert lines[number + 1] == f"#   judge-r1 launch RECIPE --cluster clusters/slurm.yaml{engine}"
    assert "trainer.n_gpus_per_node=8" in plan
    assert "+ray_kwargs.ray_init.runtime_env.env_vars.VERL_FILE_LOGGER_PATH=" in plan


def test_several_nodes_need_a_ray_cluster(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(JudgeError, match="2 nodes need a running Ray cluster, and RAY_ADDRESS is not set"):
        check_resources([(turn_recipe("sft", data), tmp_path / "run")], Resources(1, 2))


def test_command_line_options_of_resources() -> None:
    assert LOCAL.options == []
    assert Resources(2, 3, 4).options == ["--processes", "2", "--gpus-per-node", "4", "--nodes", "3"]
