"""Cluster files: what is refused, and with which sentence."""

from pathlib import Path
from typing import Any

import pytest
from launch_factories import KINDS, REPOSITORY, cluster, job, recipe

from judge_r1.core.errors import JudgeError
from judge_r1.training.launch.cluster import load_cluster
from judge_r1.training.launch.job import plan


@pytest.mark.parametrize("kind", KINDS)
def test_shipped_cluster_files_load(kind: str) -> None:
    shipped = load_cluster(REPOSITORY / "clusters" / f"{kind}.yaml")
    assert (shipped.nodes, shipped.gpus_per_node) == (2, 8)


@pytest.mark.parametrize(
    ("kind", "changed", "sentence"),
    [
        ("slurm", {"partitoin": "gpu"}, "unknown key partitoin; did you mean 'partition'?"),
        ("slurm", {"time": "1 day"}, "time"),
        ("slurm", {"options": ["--a\n#SBATCH --b"]}, "options"),
        ("ray", {"address": "head:8265"}, "address"),
        ("ray", {"folder": "shared"}, "must be an absolute path"),
        ("ray", {"nodes": 0}, "nodes"),
        ("ray", {"env": ["TOKEN=123"]}, "env"),
        ("ray", {"env": ["NCCL_DEBUG"]}, "NCCL_DEBUG is both in env and in settings"),
        ("kuberay", {"secret": None}, "env names WANDB_API_KEY: set secret"),
    ],
)
def test_mistakes_get_one_sentence(kind: str, changed: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(JudgeError) as refused:
        cluster(kind, tmp_path, **changed)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_unknown_kind(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("kind: slrum\n")
    with pytest.raises(JudgeError, match=r"no kind of cluster is named 'slrum'; did you mean 'slurm'\?"):
        load_cluster(tmp_path / "x.yaml")


def test_what_each_stage_gets(tmp_path: Path) -> None:
    grpo = job("slurm", tmp_path)
    assert (grpo.nodes, grpo.gpus, grpo.ray, grpo.note) == (2, 4, True, None)
    assert grpo.command == "judge-r1 train launched/judge-r1-toy-1.yaml --nodes 2 --gpus-per-node 4"
    sft = job("slurm", tmp_path, "sft")
    assert (sft.nodes, sft.gpus, sft.ray) == (1, 4, False)
    assert sft.command.endswith("--processes 4")
    assert sft.note == "asks for 1 node of 2: sft trains on one machine"
    trl = recipe(grpo={"engine": "trl"})
    alone = plan(trl, cluster("slurm", tmp_path))
    assert (alone.nodes, alone.gpus, alone.arguments) == (1, 1, ())
    assert "one GPU; grpo.engine=verl uses all of them" in str(alone.note)


def test_batches_that_do_not_divide_are_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="do not divide among 6 accelerators"):
        job("ray", tmp_path, gpus_per_node=3)


def test_a_recipe_cannot_end_itself_early(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="contains END_OF_RECIPE"):
        plan(recipe(model="x\nEND_OF_RECIPE\nrm -rf /"), cluster("slurm", tmp_path))
