"""A job as a RayJob of KubeRay."""

from typing import Any

from judge_r1.files.strict_yaml import Block
from judge_r1.training.launch.cluster import KubeRayCluster
from judge_r1.training.launch.job import Job

_ASK_TO_SAVE = (
    '[ -e "$0" ] || exit 0; echo stop > "$0"; for _ in $(seq {seconds}); do [ -e "$0" ] || exit 0; sleep 1; done'
)
"""While a training runs, its stop file exists. It saves a checkpoint, then removes the file."""
_SCRIPT = "judge-r1/job"
"""The annotation of the head's pod that holds the script. The pod sees it as a file."""


def rayjob(job: Job, cluster: KubeRayCluster, script: str) -> dict[str, Any]:
    """The RayJob whose head runs `script`."""
    head = _group(job, {"metadata": {"annotations": {_SCRIPT: Block(script)}}, "spec": _pod(job, cluster, "head")})
    workers = {
        "groupName": "workers",
        **dict.fromkeys(("replicas", "minReplicas", "maxReplicas"), job.nodes - 1),
        **_group(job, {"spec": _pod(job, cluster, "worker")}),
    }
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": job.name, "namespace": cluster.namespace},
        "spec": {
            "entrypoint": "bash /etc/judge-r1/job.sh",
            "shutdownAfterJobFinishes": True,
            # A lost worker is replaced, and the script trains again. A lost head ends the Ray cluster: start a new one.
            "backoffLimit": 1 if cluster.retries else 0,
            "submitterConfig": {"backoffLimit": 0},
            "rayClusterSpec": {
                "authOptions": {"mode": "token"},
                "headGroupSpec": head,
                **({"workerGroupSpecs": [workers]} if job.nodes > 1 else {}),
            },
        },
    }


def _group(job: Job, template: dict[str, Any]) -> dict[str, Any]:
    return {"rayStartParams": {"num-gpus": str(job.gpus)}, "template": template}


def _pod(job: Job, cluster: KubeRayCluster, role: str) -> dict[str, Any]:
    volumes: list[dict[str, Any]] = [
        {"name": "shared", "persistentVolumeClaim": {"claimName": cluster.claim}},
        {"name": "memory", "emptyDir": {"medium": "Memory", "sizeLimit": cluster.shared_memory}},
    ]
    mounts = [{"name": "shared", "mountPath": cluster.folder}, {"name": "memory", "mountPath": "/dev/shm"}]
    if cluster.weights_claim:
        volumes.append({"name": "weights", "persistentVolumeClaim": {"claimName": cluster.weights_claim}})
        mounts.append({"name": "weights", "mountPath": str(cluster.weights)})
    if role == "head":
        field = {"fieldPath": f"metadata.annotations['{_SCRIPT}']"}
        volumes.append({"name": "job", "downwardAPI": {"items": [{"path": "job.sh", "fieldRef": field}]}})
        mounts.append({"name": "job", "mountPath": "/etc/judge-r1"})
    resources = {
        "cpu": str(cluster.cpus_per_node),
        "memory": cluster.memory_per_node,
        cluster.gpu_resource: str(job.gpus),
        **{name: str(count) for name, count in cluster.rdma_resources.items()},
    }
    stop_file = f"{cluster.folder}/{job.stop_file}"
    ask_to_save = ["bash", "-c", _ASK_TO_SAVE.format(seconds=cluster.grace_seconds), stop_file]
    container = {
        "name": f"ray-{role}",
        "image": cluster.image,
        "resources": {"requests": resources, "limits": resources},
        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}} if cluster.rdma_resources else None,  # to pin memory
        "env": _variables(job, cluster),
        "lifecycle": {"preStop": {"exec": {"command": ask_to_save}}},
        "volumeMounts": mounts,
    }
    pod = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": cluster.grace_seconds + 60,
        "imagePullSecrets": [{"name": name} for name in cluster.image_pull_secrets],
        "tolerations": [dict(toleration) for toleration in cluster.tolerations],
        "nodeSelector": cluster.node_selector,
        "containers": [{key: value for key, value in container.items() if value}],
        "volumes": volumes,
    }
    return {key: value for key, value in pod.items() if value}


def _variables(job: Job, cluster: KubeRayCluster) -> list[dict[str, Any]]:
    """The variables of a container. Kubernetes replaces `$(NAME)` in a value, and reads `$$` as `$`."""
    public = [{"name": name, "value": value.replace("$", "$$")} for name, value in job.variables.items()]
    secret = [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": cluster.secret, "key": name}}} for name in cluster.env
    ]
    return [*public, *secret]
