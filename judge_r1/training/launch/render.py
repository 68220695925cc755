"""Jobs as the files that Ray, Slurm, KubeRay and SkyPilot take. One template a launcher, and one for what all run."""

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from judge_r1.core.errors import TRY_AGAIN
from judge_r1.training.launch.cluster import RayCluster
from judge_r1.training.launch.job import END_OF_RECIPE, Job

TEMPLATES = {"slurm": "slurm.j2", "kuberay": "kuberay.j2", "skypilot": "skypilot.j2"}
SCRIPTS = {"kuberay": "job.j2", "skypilot": "skypilot_run.j2"}
"""The shell script that stands within a file of YAML."""
SUFFIX = {"ray": ".json", "slurm": ".sbatch", "kuberay": ".yaml", "skypilot": ".yaml"}


def render(job: Job) -> str:
    """The file for the job's kind of cluster. The same job gives the same text, and no value of a secret is in it."""
    if isinstance(job.cluster, RayCluster):
        return json.dumps(ray_request(job), indent=2) + "\n"
    return _template(TEMPLATES[_kind(job)], job)


def file_of(job: Job, folder: Path) -> Path:
    """Where the rendered file goes."""
    return folder / f"{job.name}{SUFFIX[_kind(job)]}"


def ray_request(job: Job) -> dict[str, Any]:
    """What Ray's job server is sent; `$NAME` stands for the value of a variable that is passed by name.

    A job that trains on verl runs on the head and takes GPUs by its actors. Another one reserves its GPUs for itself,
    so that Ray runs it on a node that has them.
    """
    variables = {**job.cluster.settings, **{name: f"${name}" for name in job.cluster.env}}
    request: dict[str, Any] = {
        "entrypoint": f"bash -c {_quoted(_template('job.j2', job))}",  # Ray would give it to sh
        "runtime_env": {"env_vars": variables},
        "metadata": {"judge_r1_recipe": job.recipe.name},
    }
    return request if job.ray else request | {"entrypoint_num_gpus": job.gpus}


def _kind(job: Job) -> str:
    kind: str = job.cluster.kind  # type: ignore[attr-defined]  # every kind of cluster has one
    return kind


def _template(name: str, job: Job) -> str:
    environment = Environment(
        loader=PackageLoader("judge_r1.training.launch"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # shell and YAML, not HTML; what is filled in is validated or quoted
    )
    environment.filters["yaml"] = json.dumps  # a JSON string is a YAML string
    environment.filters["shell"] = _quoted
    values = {"job": job, "cluster": job.cluster, "try_again": TRY_AGAIN, "end_of_recipe": END_OF_RECIPE}
    if name == TEMPLATES.get(_kind(job)) and (inner := SCRIPTS.get(_kind(job))):
        values["script"] = _template(inner, job).rstrip("\n")
    return environment.get_template(name).render(values)


def _quoted(text: str) -> str:
    """Text as one word of a shell. (shlex.quote leaves safe words bare, which reads worse in an export.)"""
    return "'" + text.replace("'", "'\"'\"'") + "'"
