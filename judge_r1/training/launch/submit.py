"""Sends a rendered job to where it runs, and says how to follow it."""

import os
import subprocess
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.training.launch.cluster import KubeRayCluster, RayCluster
from judge_r1.training.launch.job import Job
from judge_r1.training.launch.ray_jobs import submit

SEND_SECONDS = 600.0
"""Deadline of a launcher's own command."""


class NotSent(JudgeError):
    """The launcher is not installed or refused the job."""


def command(job: Job, file: Path) -> list[str]:
    """What sends the rendered file, as one would type it; for Ray, what says the same as the request we make."""
    cluster = job.cluster
    if isinstance(cluster, RayCluster):
        return ["curl", "-X", "POST", f"{cluster.address}/api/jobs/", "--json", f"@{file}"]
    if cluster_kind(job) == "slurm":
        return ["sbatch", "--parsable", str(file)]
    if isinstance(cluster, KubeRayCluster):
        return ["kubectl", "create", "-f", str(file)]
    secrets = [word for name in cluster.env for word in ("--secret", name)]
    return ["sky", "jobs", "launch", "--yes", "--detach-run", *secrets, str(file)]


def cluster_kind(job: Job) -> str:
    kind: str = job.cluster.kind  # type: ignore[attr-defined]  # every kind of cluster has one
    return kind


def send(job: Job, file: Path) -> str:
    """Send the job; returns what the launcher says and how to go on from there. Errors: NotSent in one sentence."""
    if not isinstance(job.cluster, KubeRayCluster):
        for name in job.cluster.env:
            if name not in os.environ:
                raise NotSent(f"the cluster file passes {name} by name, and it is not set here: export it first")
    if isinstance(job.cluster, RayCluster):
        name = submit(job, job.cluster)
        return f"sent as {name}; follow it with: ray job logs --address {job.cluster.address} --follow {name}"
    said = _run(command(job, file), job)
    return f"{said}; follow it with: {_follow(job, said)}"


def _follow(job: Job, said: str) -> str:
    if isinstance(job.cluster, KubeRayCluster):
        return f"kubectl -n {job.cluster.namespace} get rayjob {job.name} --watch"
    if cluster_kind(job) == "slurm":
        return f"tail -F {job.cluster.folder}/judge-r1-{said.split(';')[0]}.log"
    return f"sky jobs logs --name {job.name}"


def _run(words: list[str], job: Job) -> str:
    shown = " ".join(words)
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=SEND_SECONDS, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise NotSent(f"{words[0]} is not installed here: run `{shown}` where it is") from None
    except subprocess.TimeoutExpired:
        raise NotSent(f"`{shown}` gave no answer in {SEND_SECONDS:.0f} s; look whether the job is there") from None
    if done.returncode:
        why = " ".join((done.stderr.strip() or done.stdout.strip()).splitlines()[-1:])
        if "AlreadyExists" in done.stderr:
            why = (
                f"rayjob {job.name} is there already; when it is over, delete it with `kubectl -n "
                f"{getattr(job.cluster, 'namespace', 'default')} delete rayjob {job.name}` and launch again: "
                "the run goes on from its last checkpoint"
            )
        raise NotSent(f"`{shown}` failed: {why}")
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "sent"
