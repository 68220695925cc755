"""Renders jobs as files for Ray, Slurm, KubeRay and SkyPilot, with one template per launcher."""

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from judge_r1.core.errors import TRY_AGAIN
from judge_r1.training.launch.cluster import RayCluster
from judge_r1.training.launch.job import END_OF_RECIPE, Job

TEMPLATES = {"slurm": "slurm.j2", "kuberay": "kuberay.j2", "skypilot": "skypilot.j2"}
SCRIPTS = {"kuberay": "job.j2", "skypilot": "skypilot_run.j2"}
"""Templates of the shell scripts inside YAML files."""
SUFFIX = {"ray": ".json", "slurm": ".sbatch", "kuberay": ".yaml", "skypilot": ".yaml"}


def render(job: Job) -> str:
    """The text of the job's file. Equal jobs give equal texts, which never contain secrets."""
    if isinstance(job.cluster, RayCluster):
        return json.dumps(ray_request(job), indent=2) + "\n"
    return _template(TEMPLATES[job.cluster.kind], job)


def file_of(job: Job, folder: Path) -> Path:
    """The path of the rendered file."""
    return folder / f"{job.name}{SUFFIX[job.cluster.kind]}"


def ray_request(job: Job) -> dict[str, Any]:
    """The request for Ray's job server. `$NAME` stands for the value of an `env` variable.

    A verl job runs on the head, and its actors reserve GPUs. Other jobs reserve GPUs themselves, so that Ray runs them
    on a node that has them.
    """
    variables = {**job.cluster.settings, **{name: f"${name}" for name in job.cluster.env}}
    request: dict[str, Any] = {
        "entrypoint": f"bash -c {_quoted(_template('job.j2', job))}",  # Ray would use sh
        "runtime_env": {"env_vars": variables},
        "metadata": {"judge_r1_recipe": job.recipe.name},
    }
    return request if job.ray else request | {"entrypoint_num_gpus": job.gpus}


def _template(name: str, job: Job) -> str:
    environment = Environment(
        loader=PackageLoader("judge_r1.training.launch"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # shell and YAML, not HTML; inserted values are validated or quoted
    )
    environment.filters["yaml"] = json.dumps  # a JSON string is a YAML string
    environment.filters["shell"] = _quoted
    values = {"job": job, "cluster": job.cluster, "try_again": TRY_AGAIN, "end_of_recipe": END_OF_RECIPE}
    if name == TEMPLATES.get(job.cluster.kind) and (inner := SCRIPTS.get(job.cluster.kind)):
        values["script"] = _template(inner, job).rstrip("\n")
    return environment.get_template(name).render(values)


def _quoted(text: str) -> str:
    """Text as one quoted shell word. (shlex.quote leaves safe words unquoted, which is less readable.)"""
    return "'" + text.replace("'", "'\"'\"'") + "'"
