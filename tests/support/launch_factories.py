"""Clusters and jobs for launch tests."""

from pathlib import Path
from typing import Any

import yaml
from paths import REPO

from judge_r1.training.launch.cluster import Cluster, load_cluster
from judge_r1.training.launch.job import Job, plan
from judge_r1.training.recipe import DataConfig, Recipe
from judge_r1.training.stage_config import GrpoConfig

REPOSITORY = REPO
KINDS = ("ray", "slurm", "kuberay", "skypilot")
SHARED: dict[str, Any] = {
    "nodes": 2,
    "gpus_per_node": 4,
    "folder": "/shared/judge r1",
    "env": ["WANDB_API_KEY"],
    "settings": {"NCCL_DEBUG": "WARN", "MOTTO": 'it\'s "fine"'},
    "retries": 1,
}
OWN: dict[str, dict[str, Any]] = {
    "ray": {"address": "http://head:8265"},
    "slurm": {"time": "1-00:00:00", "cpus_per_node": 32, "partition": "gpu", "venv": "/shared/venv",
              "setup": ["module load cuda"], "options": ["--exclusive"]},
    "kuberay": {"image": "registry/judge:1", "claim": "shared", "secret": "tokens", "node_selector": {"a/b": "c"},
                "rdma_resources": {"rdma/hca": 1}, "image_pull_secrets": ["registry"],
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]},
    "skypilot": {"accelerator": "H100", "infra": "k8s", "volume": "shared", "use_spot": True},
}  # fmt: skip


def recipe(stage: str = "grpo", **changed: Any) -> Recipe:
    grpo = GrpoConfig(engine="verl", group_size=4, pairs_per_step=8, updates_per_step=1, micro_batch_size=4)
    sft = {"batch_size": 32, "micro_batch_size": 4}
    fields = {
        "sft": sft,
        "name": "Toy/1",
        "stage": stage,
        "model": "runs/base/model",
        "data": DataConfig(train=Path("runs/data")),
    }
    return Recipe.model_validate({**fields, "grpo": grpo, **changed})


def cluster(kind: str, where: Path, /, **changed: Any) -> Cluster:
    file = where / f"{kind}.yaml"
    file.write_text(yaml.safe_dump({"kind": kind, **SHARED, **OWN[kind], **changed}))
    return load_cluster(file)


def job(kind: str, where: Path, stage: str = "grpo", /, **changed: Any) -> Job:
    return plan(recipe(stage), cluster(kind, where, **changed))
