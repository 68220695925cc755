"""The fields of KubeRay's RayJob that `judge-r1 launch` writes, as a JSON schema. Pods have Kubernetes' own schemas.

Names, types and limits are those of KubeRay 1.5.1 (rayjob_types.go, raycluster_types.go, validation.go). With the
resource definition of a real cluster (`kubectl get crd rayjobs.ray.io -o yaml > FILE`), the tests use that instead:
`JUDGE_R1_KUBERAY_CRD=FILE pytest tests/judge_r1/training/launch`.
"""

from pathlib import Path
from typing import Any

import yaml

COUNT = {"type": "integer", "minimum": 0}


def _fields(required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


_GROUP = {
    "rayStartParams": {"type": "object", "additionalProperties": {"type": "string"}},
    "template": {"type": "object", "required": ["spec"]},
}
_CLUSTER = _fields(
    "headGroupSpec",
    authOptions=_fields("", mode={"enum": ["disabled", "token"]}),
    headGroupSpec=_fields("rayStartParams template", **_GROUP),
    workerGroupSpecs={
        "type": "array",
        "items": _fields(
            "groupName minReplicas maxReplicas rayStartParams template",
            groupName={"type": "string"},
            replicas=COUNT,
            minReplicas=COUNT,
            maxReplicas=COUNT,
            **_GROUP,
        ),
    },
)
RAYJOB = _fields(
    "apiVersion kind metadata spec",
    apiVersion={"const": "ray.io/v1"},
    kind={"const": "RayJob"},
    metadata=_fields(
        "name namespace",
        # KubeRay appends 6 characters for the cluster and 10 for its services to a DNS label of at most 63.
        name={"type": "string", "maxLength": 47, "pattern": "^[a-z]([-a-z0-9]*[a-z0-9])?$"},
        namespace={"type": "string"},
    ),
    spec=_fields(
        "entrypoint rayClusterSpec",
        entrypoint={"type": "string"},
        shutdownAfterJobFinishes={"type": "boolean"},
        backoffLimit=COUNT,
        submitterConfig=_fields("", backoffLimit=COUNT),
        rayClusterSpec=_CLUSTER,
    ),
)


def crd_schema(file: Path) -> dict[str, Any]:
    """The OpenAPI schema of version v1 in a CustomResourceDefinition. Unknown fields are refused, as `kubectl create`
    refuses them."""
    versions = yaml.safe_load(file.read_text())["spec"]["versions"]
    schema: dict[str, Any] = next(v["schema"]["openAPIV3Schema"] for v in versions if v["name"] == "v1")
    _close(schema)
    schema["properties"]["metadata"] = {"type": "object"}
    return schema


def _close(schema: Any) -> None:
    if isinstance(schema, list):
        for each in schema:
            _close(each)
    elif isinstance(schema, dict):
        if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
            schema.setdefault("additionalProperties", False)
        for each in schema.values():
            _close(each)
