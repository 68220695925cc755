"""Submits a rendered job."""

import os
import shlex
import subprocess
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.training.launch.cluster import KubeRayCluster, RayCluster, SlurmCluster
from judge_r1.training.launch.job import Job
from judge_r1.training.launch.ray_jobs import submit

SEND_SECONDS = 600.0
"""Deadline of a launcher's command."""


class SubmitFailed(JudgeError):
    """The launcher is not installed or rejected the job."""


def command(job: Job, file: Path) -> list[str]:
    """The command that submits the rendered file; for Ray, a curl command equal to our request."""
    cluster = job.cluster
    if isinstance(cluster, RayCluster):
        return ["curl", "-X", "POST", f"{cluster.address}/api/jobs/", "--json", f"@{file}"]
    if job.cluster.kind == "slurm":
        return ["sbatch", "--parsable", str(file)]
    if isinstance(cluster, KubeRayCluster):
        return ["kubectl", "create", "-f", str(file)]
    secrets = [word for name in cluster.env for word in ("--secret", name)]
    return ["sky", "jobs", "launch", "--yes", "--detach-run", *secrets, str(file)]


def notes(job: Job) -> list[str]:
    """What to know before the job is sent."""
    cluster = job.cluster
    found = [job.note] if job.note else []
    if isinstance(cluster, SlurmCluster) and cluster.account is None:
        found.append("the cluster file names no account: sbatch uses your default one, if the cluster has one")
    return found


def send(job: Job, file: Path) -> str:
    """Submit the job. Returns the launcher's reply and the command that follows the job's log.

    Raises:
        SubmitFailed: The launcher is not installed or rejected the job, or an `env` variable is not set.
    """
    if not isinstance(job.cluster, KubeRayCluster):
        for name in job.cluster.env:
            if name not in os.environ:
                raise SubmitFailed(f"the cluster file passes the variable {name}, which is not set: export it first")
    if isinstance(job.cluster, RayCluster):
        name = submit(job, job.cluster)
        return f"sent as {name}; follow it with: ray job logs --address {job.cluster.address} --follow {name}"
    reply = _run(command(job, file), job)
    return f"{reply}; follow it with: {_follow(job, reply)}"


def _follow(job: Job, reply: str) -> str:
    if isinstance(job.cluster, KubeRayCluster):
        return f"kubectl -n {job.cluster.namespace} get rayjob {job.name} --watch"
    if job.cluster.kind == "slurm":
        job_id = reply.partition(";")[0]
        return shlex.join(["tail", "-F", f"{job.cluster.folder}/judge-r1-{job_id}.log"])
    return f"sky jobs logs --name {job.name}"


def _run(words: list[str], job: Job) -> str:
    shown = shlex.join(words)
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=SEND_SECONDS, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise SubmitFailed(f"{words[0]} is not installed: run `{shown}` on a machine that has it") from None
    except subprocess.TimeoutExpired:
        raise SubmitFailed(
            f"`{shown}` did not respond in {SEND_SECONDS:.0f} s; check whether the job was submitted"
        ) from None
    if done.returncode:
        why = " ".join((done.stderr.strip() or done.stdout.strip()).splitlines()[-1:])
        if "AlreadyExists" in done.stderr:
            why = (
                f"rayjob {job.name} exists already; when it has finished, delete it with `kubectl -n "
                f"{getattr(job.cluster, 'namespace', 'default')} delete rayjob {job.name}` and launch again: "
                "the run resumes from its last checkpoint"
            )
        raise SubmitFailed(f"`{shown}` failed: {why}")
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "sent"
