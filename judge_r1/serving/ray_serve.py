"""The same app on Ray Serve: several replicas behind one address, on one machine or many.

    serve run clusters/ray-serve.yaml

Each replica loads the judge of the SPEC and has a queue, rates, metrics and cases of its own: send cases along
(`context`) instead of putting them. A replica that dies is replaced; what it was playing gets a 5xx, which
`judge_r1.client` asks again.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ray import serve
from ray.serve import Application
from starlette.types import ASGIApp

from judge_r1.errors import JudgeError
from judge_r1.jsonl import explain
from judge_r1.serving.app import create_app
from judge_r1.serving.service import open_service

_MORE = 64
"""Requests beyond the queue that a replica takes in, so that it is its queue that refuses, with `Retry-After`, and
`/healthz` has an answer."""


class Served(BaseModel):
    """`args` of the configuration file: what `judge-r1 serve` calls by the same names. Paths are those of the replicas'
    machines."""

    model_config = ConfigDict(extra="forbid")

    judge: str
    recipe: Path | None = None
    running: int = Field(16, ge=1)
    waiting: int = Field(256, ge=0)
    seconds: float = Field(300.0, ge=1)
    keys: Path | None = None
    traces: Path | None = None


def build(args: dict[str, Any]) -> Application:
    """What the configuration file names as `import_path`. Errors: JudgeError."""
    try:
        served = Served.model_validate(args)
    except ValidationError as error:
        raise JudgeError(f"args of the Ray Serve application: {explain(error)}") from None

    def app() -> ASGIApp:
        given = served.model_dump()
        return create_app(open_service(given.pop("judge"), **given))

    return deploy(app, served.running + served.waiting)


def deploy(app: Callable[[], ASGIApp], requests: int, replicas: int = 1) -> Application:
    """An app, made anew in each of the replicas, of which each takes in so many requests. How many there are and what
    each needs (processors, GPUs) is also for the configuration file to say."""
    deployment = serve.deployment(serve.ingress(app)(), name="Judge")
    return deployment.options(num_replicas=replicas, max_ongoing_requests=requests + _MORE).bind()
