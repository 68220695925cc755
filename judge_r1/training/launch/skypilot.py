"""A job as a task of SkyPilot."""

from typing import Any

from judge_r1.core.yaml_writer import Block
from judge_r1.training.launch.cluster import SkyCluster
from judge_r1.training.launch.job import Job


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
    fields = {
        "name": job.name,
        "num_nodes": job.nodes,
        "resources": {key: value for key, value in resources.items() if value is not None},
        "volumes": {cluster.folder: cluster.volume} if cluster.volume else None,
        "envs": cluster.settings,
        "secrets": dict.fromkeys(cluster.env),
        "run": Block(script),
    }
    return {key: value for key, value in fields.items() if value}
