"""Cluster files: one YAML file says where a recipe runs. Unknown keys fail with a suggestion, as in recipes.

Secrets never stand in a cluster file nor in anything that is rendered from it: `env` names variables, and the values
come from where the job is sent from, or from a Kubernetes secret.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints

from judge_r1.core.registry import suggest
from judge_r1.core.yaml_config import ConfigError, ConfigModel, read, validated

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""The name of an environment variable."""
Line = Annotated[str, StringConstraints(pattern=r"^[^\n\r]+$")]
"""Text that must stay on one line."""


def _absolute(path: str) -> str:
    if not path.startswith("/") or "'" in path:
        raise ValueError("must be an absolute path, without quotes")
    return path


Folder = Annotated[Line, AfterValidator(_absolute)]
"""A path on the cluster."""


class Cluster(ConfigModel):
    """What every kind of cluster is told."""

    nodes: int = Field(1, ge=1)
    gpus_per_node: int = Field(8, ge=1)
    folder: Folder = Field(
        description="the job runs here; recipes' relative paths and runs/ lie in it; all nodes see it"
    )
    venv: Folder | None = Field(
        None, description="the virtual environment of judge-r1 on the nodes; else it is on PATH"
    )
    setup: tuple[Line, ...] = Field((), description="shell lines before training on each node, for example module load")
    env: tuple[Name, ...] = Field((), description="variables to pass by name, for example WANDB_API_KEY")
    settings: dict[Name, Line] = Field({}, description="variables with values that anybody may read")
    retries: int = Field(
        2, ge=0, description="further attempts of a run that lost a node; each goes on from a checkpoint"
    )


class RayCluster(Cluster):
    """A Ray cluster that runs already."""

    kind: Literal["ray"]
    address: Annotated[str, StringConstraints(pattern=r"^https?://[^/\s]+$")] = Field(
        description="of its dashboard, for example http://head:8265"
    )
    token_file: Path | None = Field(None, description="the cluster's token; else RAY_AUTH_TOKEN or ~/.ray/auth_token")


class SlurmCluster(Cluster):
    """Slurm; Ray is started inside the job."""

    kind: Literal["slurm"]
    time: Annotated[str, StringConstraints(pattern=r"^[0-9:-]+$")] = Field(description="limit, for example 1-00:00:00")
    cpus_per_node: int = Field(64, ge=1)
    partition: Line | None = None
    account: Line | None = None
    qos: Line | None = None
    options: tuple[Line, ...] = Field((), description="further lines for #SBATCH, for example --exclusive")


class KubeRayCluster(Cluster):
    """Kubernetes with the KubeRay operator, 1.5.1 or newer."""

    kind: Literal["kuberay"]
    image: Line = Field(description="an image with judge-r1 and its verl extra installed, and its Ray")
    namespace: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")] = "default"
    claim: Line = Field(description="a PersistentVolumeClaim, ReadWriteMany, mounted at `folder`")
    secret: Line | None = Field(None, description="the Kubernetes secret that holds the variables of `env`")
    cpus_per_node: int = Field(64, ge=1)
    memory_per_node: Line = "512Gi"
    shared_memory: Line = Field("64Gi", description="of /dev/shm, for Ray's objects and NCCL")
    gpu_resource: Line = "nvidia.com/gpu"
    node_selector: dict[str, str] = Field({}, description="labels of the machines that may be used")


class SkyCluster(Cluster):
    """SkyPilot: a managed job, which is recovered on other machines when its own are taken away."""

    kind: Literal["skypilot"]
    accelerator: Line = Field(description="for example H100")
    infra: Line | None = Field(None, description="for example k8s or aws/us-east-1; anywhere by default")
    image: Line | None = Field(None, description="for example docker:registry/judge-r1:1")
    volume: Line | None = Field(
        None, description="a volume of SkyPilot for `folder`; else the machines share it already"
    )
    use_spot: bool = False


KINDS: Mapping[str, type[Cluster]] = {
    "ray": RayCluster,
    "slurm": SlurmCluster,
    "kuberay": KubeRayCluster,
    "skypilot": SkyCluster,
}


def load_cluster(path: Path) -> Cluster:
    """The cluster file. Errors: BadRecipe, for the file, its kind or a key of it."""
    data: dict[str, Any] = read(path)
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigError(f"{path}: no kind of cluster is called {kind!r}{suggest(str(kind), KINDS)}")
    cluster = validated(KINDS[kind], data, (), str(path))
    if isinstance(cluster, KubeRayCluster) and cluster.env and cluster.secret is None:
        raise ConfigError(
            f"{path}: env names {cluster.env[0]}, and secret does not say which Kubernetes secret holds it"
        )
    if both := set(cluster.env) & set(cluster.settings):
        raise ConfigError(f"{path}: {min(both)} stands in env and in settings: choose one")
    return cluster
