"""Cluster files: one YAML file defines where recipes run. Unknown keys fail with a suggestion, as in recipes.

Cluster files and rendered jobs never contain secrets: `env` names variables, whose values come from the submitting
shell or from a Kubernetes secret.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints

from judge_r1.core.registry import suggest
from judge_r1.files.yaml_config import ConfigError, ConfigModel, read, validated
from judge_r1.training.shipped_recipes import shipped_folder

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""Name of an environment variable."""
Line = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x08\x0a-\x1f\x7f]+$")]
"""Text on a single line, without control characters."""


def _absolute(path: str) -> str:
    if not path.startswith("/") or "'" in path:
        raise ValueError("must be an absolute path, without quotes")
    return path


Folder = Annotated[Line, AfterValidator(_absolute)]
"""A path on the cluster."""
OWN_VARIABLES = frozenset((
    "attempt", "head", "here", "image",
    "other", "ray", "running", "status", "trainer", "JUDGE_R1_GRACE_SECONDS", "JUDGE_R1_STOP_FILE", "BASH",
    "BASHOPTS", "BASHPID", "BASH_ALIASES", "BASH_ARGC", "BASH_ARGV", "BASH_ARGV0", "BASH_CMDS", "BASH_COMMAND",
    "BASH_EXECUTION_STRING", "BASH_LINENO", "BASH_SOURCE", "BASH_SUBSHELL", "BASH_VERSINFO", "BASH_VERSION",
    "COMP_WORDBREAKS", "DIRSTACK", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS", "HISTCMD", "IFS",
    "LINENO", "OLDPWD", "OPTERR", "OPTIND", "PIPESTATUS", "PPID", "PS1", "PS2", "PS4", "PWD", "RANDOM", "SECONDS",
    "SHELLOPTS", "SHLVL", "SRANDOM", "UID", "_",
))  # fmt: skip
"""Variables that the job script or bash sets itself."""
OWN_RAY_VARIABLES = frozenset(("RAY_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH"))
"""Variables of the Ray cluster that a job of Slurm or SkyPilot starts."""


class Cluster(ConfigModel):
    """Settings of every kind of cluster."""

    kind: str
    nodes: int = Field(1, ge=1)
    gpus_per_node: int = Field(8, ge=1)
    folder: Folder = Field(
        description="working folder of the job, shared by all nodes; relative paths and runs/ are in it"
    )
    venv: Folder | None = Field(
        None, description="virtual environment with judge-r1 on the nodes; default: judge-r1 is on PATH"
    )
    setup: tuple[Line, ...] = Field((), description="shell lines before training on each node, for example module load")
    env: tuple[Name, ...] = Field((), description="names of variables to pass, for example WANDB_API_KEY")
    settings: dict[Name, Line] = Field({}, description="variables with values that are not secret")
    weights: Folder | None = Field(
        None,
        description="folder of downloaded models, seen by all nodes (HF_HOME); default: hf in `folder` on Kubernetes "
        "and SkyPilot, whose machines keep nothing, else that of the nodes",
    )
    offline: bool = Field(False, description="HF_HUB_OFFLINE=1: no node asks a model hub")
    umask: Annotated[str, StringConstraints(pattern=r"^0?[0-7]{3}$")] | None = Field(
        None,
        description="rights that the job's files lack, for example 027: its group may read; default: 077, its user "
        "alone, on Slurm and SkyPilot, else that of the nodes",
    )
    retries: int = Field(
        2, ge=0, description="further attempts after a failure such as a lost node; each resumes from a checkpoint"
    )
    grace_seconds: int = Field(
        600, ge=0, le=86_400, description="time to finish a step and save a checkpoint before the job is ended"
    )

    @property
    def variables(self) -> dict[str, str]:
        """The public variables of the job: `settings`, and where models are stored."""
        kept = f"{self.folder}/hf" if isinstance(self, KubeRayCluster | SkyCluster) else None
        hub = {"HF_HUB_OFFLINE": "1"} if self.offline else {}
        if folder := self.weights or kept:
            hub["HF_HOME"] = folder
        return {**{name: value for name, value in hub.items() if name not in self.env}, **self.settings}


class RayCluster(Cluster):
    """A running Ray cluster."""

    kind: Literal["ray"]
    address: Annotated[str, StringConstraints(pattern=r"^https?://[^/\s]+$")] = Field(
        description="URL of its dashboard, for example http://head:8265"
    )
    token_file: Path | None = Field(None, description="token file; default: RAY_AUTH_TOKEN or ~/.ray/auth_token")


class Container(ConfigModel):
    """The image in which the programs of a Slurm job run. The job's script itself runs on the node."""

    runtime: Literal["pyxis", "apptainer"] = Field(description="pyxis: srun --container-image, with Enroot")
    image: Line = Field(description="a file (.sqsh, .sif) that all nodes see, or a name such as docker://host/judge-r1")
    mounts: tuple[Folder, ...] = Field((), description="folders of the nodes, beside `folder` and `weights`")


class SlurmCluster(Cluster):
    """Slurm. The job starts its own Ray cluster."""

    kind: Literal["slurm"]
    time: Annotated[str, StringConstraints(pattern=r"^[0-9:-]+$")] = Field(
        description="time limit, for example 1-00:00:00"
    )
    cpus_per_node: int = Field(64, ge=1)
    memory_per_node: Line = Field("0", description="as in sbatch --mem; 0: all memory of a node")
    partition: Line
    account: Line | None = None
    qos: Line | None = None
    options: tuple[Line, ...] = Field((), description="further #SBATCH options, for example --exclusive")
    container: Container | None = Field(None, description="image of the job's programs, instead of `venv`")

    @property
    def mounts(self) -> tuple[str, ...]:
        """The folders that the container sees, under their own paths."""
        own = (self.folder, *([self.weights] if self.weights else []))
        return tuple(dict.fromkeys([*own, *(self.container.mounts if self.container else ())]))


class KubeRayCluster(Cluster):
    """Kubernetes with the KubeRay operator 1.5.1 or newer."""

    kind: Literal["kuberay"]
    image: Line = Field(description="image with judge-r1, its verl extra and Ray")
    namespace: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")] = "default"
    claim: Line = Field(description="ReadWriteMany PersistentVolumeClaim, mounted at `folder`")
    weights_claim: Line | None = Field(None, description="claim that is mounted at `weights`, if not in `folder`")
    secret: Line | None = Field(None, description="Kubernetes secret with the variables of `env`")
    cpus_per_node: int = Field(64, ge=1)
    memory_per_node: Line = "512Gi"
    shared_memory: Line = Field("64Gi", description="size of /dev/shm, for Ray's objects and NCCL")
    gpu_resource: Line = "nvidia.com/gpu"
    rdma_resources: dict[Line, int] = Field(
        {}, description="RDMA devices of each pod, for example {rdma/hca_shared_devices_a: 1}; adds IPC_LOCK"
    )
    image_pull_secrets: tuple[Line, ...] = Field((), description="Kubernetes secrets of the image's registry")
    node_selector: dict[str, str] = Field({}, description="labels of eligible nodes")
    tolerations: tuple[dict[str, str | int], ...] = Field((), description="Kubernetes tolerations of the pods")


class SkyCluster(Cluster):
    """SkyPilot managed jobs, which recover on other machines after a preemption."""

    kind: Literal["skypilot"]
    accelerator: Line = Field(description="for example H100")
    infra: Line | None = Field(None, description="for example k8s or aws/us-east-1; default: any")
    image: Line | None = Field(None, description="for example docker:registry/judge-r1:1")
    volume: Line | None = Field(
        None, description="SkyPilot volume for `folder`; default: the machines share the folder"
    )
    weights_volume: Line | None = Field(None, description="SkyPilot volume for `weights`, if not in `folder`")
    network_tier: Literal["standard", "best"] | None = Field(
        "best", description="network between machines; best: InfiniBand, EFA or GPUDirect where offered"
    )
    use_spot: bool = False


KINDS: Mapping[str, type[Cluster]] = {
    "ray": RayCluster,
    "slurm": SlurmCluster,
    "kuberay": KubeRayCluster,
    "skypilot": SkyCluster,
}


def load_cluster(path: Path) -> Cluster:
    """Load a cluster file.

    Raises:
        ConfigError: The file cannot be read, or its kind or a key is invalid.
    """
    if not path.exists():
        raise ConfigError(f"there is no cluster file {path}: copy a file of {shipped_folder('clusters')} and adapt it")
    data: dict[str, Any] = read(path)
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigError(f"{path}: no kind of cluster is named {kind!r}{suggest(str(kind), KINDS)}")
    cluster = validated(KINDS[kind], data, (), str(path))
    if problem := _problem(cluster):
        raise ConfigError(f"{path}: {problem}")
    return cluster


def _problem(cluster: Cluster) -> str | None:
    """What the rendered job would not take over as it is."""
    if isinstance(cluster, KubeRayCluster):
        if cluster.env and cluster.secret is None:
            return f"env names {cluster.env[0]}: set secret to the Kubernetes secret that holds it"
        names = ["cpu", "memory", cluster.gpu_resource, *cluster.rdma_resources]
        if repeated := [name for at, name in enumerate(names) if name in names[:at]]:
            return f"the pods' resource {repeated[0]} is set twice: check gpu_resource and rdma_resources"
        if ":" in cluster.folder:
            return "folder has a colon, which Kubernetes allows in no mount path"
    if isinstance(cluster, SlurmCluster) and cluster.container:
        if cluster.venv:
            return "venv and container exclude each other: the image brings judge-r1"
        if cluster.container.runtime == "pyxis" and (
            odd := [path for path in cluster.mounts if re.search("[,:]", path)]
        ):
            return f"the path {odd[0]} has a comma or colon, which Pyxis reads as the end of a mount"
    claim = getattr(cluster, "weights_claim", None) or getattr(cluster, "weights_volume", None)
    if claim and cluster.weights is None:
        return f"{claim} is for downloaded models: set weights to the folder where it is mounted"
    if isinstance(cluster, SkyCluster) and cluster.volume and "$" in cluster.folder + cluster.volume:
        return "folder and volume must not contain $, because SkyPilot replaces variables in them"
    names = [*cluster.env, *cluster.settings]
    if repeated := [name for at, name in enumerate(names) if name in names[:at]]:
        where = "both in env and in settings" if repeated[0] in cluster.settings else "twice in env"
        return f"{repeated[0]} is {where}: remove one of them"
    own = OWN_VARIABLES | (OWN_RAY_VARIABLES if isinstance(cluster, SlurmCluster | SkyCluster) else frozenset())
    if taken := own & set(names):
        return f"the job sets {min(taken)} itself: remove it from env or settings"
    return None
