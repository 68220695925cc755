"""Renders jobs as files for Ray, Slurm, KubeRay and SkyPilot. Scripts are templates; JSON and YAML have writers."""

import json
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from judge_r1.core.errors import TRY_AGAIN
from judge_r1.files.strict_yaml import Block, dump_yaml
from judge_r1.training.launch.cluster import KubeRayCluster, RayCluster, SkyCluster
from judge_r1.training.launch.job import END_OF_RECIPE, Job
from judge_r1.training.launch.kuberay import rayjob

SUFFIX = {"ray": ".json", "slurm": ".sbatch", "kuberay": ".yaml", "skypilot": ".yaml"}


def render(job: Job) -> str:
    """The text of the job's file. Equal jobs give equal texts, which never contain secrets."""
    cluster = job.cluster
    head = f"# {job.name}: written by `judge-r1 launch`. It {job.resumes} if you "
    if isinstance(cluster, RayCluster):
        return json.dumps(ray_request(job), indent=2) + "\n"
    if isinstance(cluster, KubeRayCluster):
        how = "delete the finished RayJob and create it again."
        return f"{head}{how}\n{dump_yaml(rayjob(job, cluster, _template('job.j2', job)))}"
    if isinstance(cluster, SkyCluster):
        how = "submit it again with `sky jobs launch`."
        return f"{head}{how}\n{dump_yaml(task(job, cluster, _template('skypilot_run.j2', job)))}"
    return _template("slurm.j2", job)


def file_of(job: Job, folder: Path) -> Path:
    """The path of the rendered file."""
    return folder / f"{job.name}{SUFFIX[job.cluster.kind]}"


def ray_request(job: Job) -> dict[str, Any]:
    """The request for Ray's job server. `$NAME` stands for the value of an `env` variable.

    A verl job runs on the head, and its actors reserve GPUs. Other jobs reserve GPUs themselves, so that Ray runs them
    on a node that has them.
    """
    variables = {**job.variables, **{name: f"${name}" for name in job.cluster.env}}
    request: dict[str, Any] = {
        "entrypoint": f"bash -c {_quoted(_template('job.j2', job))}",  # Ray would use sh
        "runtime_env": {"env_vars": variables},
        "metadata": {"judge_r1_recipe": job.title},
    }
    return request if job.ray else request | {"entrypoint_num_gpus": job.gpus}


def _template(name: str, job: Job) -> str:
    environment = Environment(
        loader=PackageLoader("judge_r1.training.launch"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # shell, not HTML; inserted values are validated or quoted
    )
    environment.filters |= {"shell": _quoted, "sbatch": _sbatch_word, "mount": lambda path: f"{path}:{path}"}
    cluster = job.cluster
    own = ["RAY_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH", "JUDGE_R1_STOP_FILE", "JUDGE_R1_GRACE_SECONDS"]
    variables = [*job.variables, *cluster.env, *own]
    values = {
        "job": job,
        "cluster": cluster,
        "variables": variables,
        "try_again": TRY_AGAIN,
        "end_of_recipe": END_OF_RECIPE,
    }
    return environment.get_template(name).render(values)


def _quoted(text: str) -> str:
    """Text as one quoted shell word. (shlex.quote leaves safe words unquoted, which is less readable.)"""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def _sbatch_word(text: str) -> str:
    """Text as one word of an #SBATCH line, where a backslash quotes any character. A line with `packjob` or `hetjob`
    would begin another job."""
    if re.fullmatch(r"[\w./:=,@%+-]+", text) and not _ANOTHER_JOB.search(text):
        return text
    return '"' + _ANOTHER_JOB.sub(r"\1\\\2", re.sub(r'(["\\])', r"\\\1", text)) + '"'


_ANOTHER_JOB = re.compile("(pack|het)(job)", re.IGNORECASE)


def task(job: Job, cluster: SkyCluster, script: str) -> dict[str, Any]:
    """The task that runs `script` on each machine. `sky jobs launch --secret NAME` passes the values of `secrets`."""
    resources = {
        "accelerators": f"{cluster.accelerator}:{job.gpus}",
        "infra": cluster.infra,
        "image_id": cluster.image,
        "network_tier": cluster.network_tier if job.nodes > 1 else None,
        "use_spot": cluster.use_spot or None,
        "job_recovery": {"max_restarts_on_errors": cluster.retries},
    }
    volumes = {cluster.folder: cluster.volume, cluster.weights: cluster.weights_volume}
    fields = {
        "name": job.name,
        "num_nodes": job.nodes,
        "resources": {key: value for key, value in resources.items() if value is not None},
        "volumes": {folder: volume for folder, volume in volumes.items() if volume},
        "envs": job.variables,
        "secrets": dict.fromkeys(cluster.env),
        "run": Block(script),
    }
    return {key: value for key, value in fields.items() if value}
