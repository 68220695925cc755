"""Cluster files: validation and the resources of each stage."""

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
    ("kind", "changed", "message"),
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
        ("kuberay", {"folder": "/a:b"}, "folder has a colon"),
        ("kuberay", {"namespace": "-n"}, "namespace"),
        ("kuberay", {"gpu_resource": "cpu"}, "resource cpu is set twice"),
        ("kuberay", {"rdma_resources": {"nvidia.com/gpu": 1}}, "resource nvidia.com/gpu is set twice"),
        ("skypilot", {"folder": "/a$NCCL_DEBUG"}, "must not contain $"),
        ("skypilot", {"settings": {"RAY_ADDRESS": "x"}}, "the job sets RAY_ADDRESS itself"),
        ("slurm", {"env": ["UID"]}, "the job sets UID itself"),
        ("slurm", {"env": ["A", "A"]}, "A is twice in env"),
        ("slurm", {"settings": {"A": "a\0b"}}, "settings.A"),
        ("slurm", {"partition": "a\nb"}, "partition"),
    ],
)
def test_a_mistake_is_a_one_line_error(kind: str, changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(JudgeError) as error:
        cluster(kind, tmp_path, **changed)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_kind_suggests_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("kind: slrum\n")
    with pytest.raises(JudgeError, match=r"no kind of cluster is named 'slrum'; did you mean 'slurm'\?"):
        load_cluster(tmp_path / "x.yaml")


def test_resources_of_each_stage(tmp_path: Path) -> None:
    grpo = job("slurm", tmp_path)
    assert (grpo.nodes, grpo.gpus, grpo.ray, grpo.note) == (2, 4, True, None)
    assert grpo.command == "judge-r1 train launched/judge-r1-toy-1-82ac60c1.yaml --nodes 2 --gpus-per-node 4"
    sft = job("slurm", tmp_path, "sft")
    assert (sft.nodes, sft.gpus, sft.ray, sft.note) == (2, 4, True, None)
    assert sft.command == "judge-r1 train launched/judge-r1-toy-1-82ac60c1.yaml --nodes 2 --gpus-per-node 4"
    large = recipe("sft", sft={"batch_size": 12, "micro_batch_size": 4})
    with pytest.raises(JudgeError, match=r"sft\.batch_size 12 does not divide among 8 processes"):
        plan(large, cluster("slurm", tmp_path))
    one = plan(large, cluster("slurm", tmp_path).model_copy(update={"nodes": 1}))
    assert (one.nodes, one.gpus, one.ray) == (1, 4, False)
    assert one.command.endswith("--processes 4")
    on_trl = recipe(grpo={"engine": "trl"})
    one_gpu = plan(on_trl, cluster("slurm", tmp_path))
    assert (one_gpu.nodes, one_gpu.gpus, one_gpu.words[:1], len(one_gpu.words)) == (1, 1, ("train",), 2)
    assert "one GPU; grpo.engine=verl uses all of them" in str(one_gpu.note)


def test_batches_that_do_not_divide_are_refused_before_submission(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="do not divide among 6 accelerators"):
        job("ray", tmp_path, gpus_per_node=3)


def test_a_recipe_cannot_contain_its_end_marker(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="contains END_OF_RECIPE"):
        plan(recipe(model="x\nEND_OF_RECIPE\nrm -rf /"), cluster("slurm", tmp_path))
