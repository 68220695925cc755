"""The app on Ray Serve: several replicas behind one address, on one machine or many.

    serve run clusters/ray-serve.yaml

Each replica loads the judge of the SPEC and has its own queue, rate limits and metrics. Uploaded cases live in one
more deployment, `Cases`, which all replicas use. Ray replaces a replica that dies; its running requests fail with a 5xx
status, which `judge_r1.client` retries. If `Cases` dies, its replacement starts empty.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import Field
from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve import Application
from ray.serve.exceptions import RayServeException
from ray.serve.handle import DeploymentHandle
from starlette.types import ASGIApp

from judge_r1.core.errors import JudgeError, invalid_as
from judge_r1.core.wire import RequestModel
from judge_r1.serving.app import create_app
from judge_r1.serving.replicated_case_store import ActorCall, CaseStoreActor, CaseStoreUnavailable, ReplicatedCaseStore
from judge_r1.serving.service import Service, open_service

_MORE = 64
"""Requests beyond the queue that Ray lets through to a replica. The queue then rejects them with `Retry-After`, and
`/healthz` still answers."""
_CASES = "Cases"
_CASES_S = 10.0
"""Deadline of a call to `Cases`; Ray usually replaces a dead one by then."""


class ServeArgs(RequestModel):
    """`args` of the configuration file: the options of `judge-r1 serve`. Paths are those of the replicas' machines."""

    judge: str
    recipe: Path | None = None
    max_concurrency: int = Field(16, ge=1)
    queue_size: int = Field(256, ge=0)
    timeout: float = Field(300.0, ge=1)
    keys: Path | None = None
    traces: Path | None = None


def build(args: dict[str, Any]) -> Application:
    """The application that the configuration file names as `import_path`. Raises JudgeError for wrong `args`."""
    with invalid_as(JudgeError, "args of the Ray Serve application"):
        options = ServeArgs.model_validate(args)

    def service() -> Service:
        arguments = options.model_dump()
        return open_service(arguments.pop("judge"), **arguments)

    return deploy(service, options.max_concurrency + options.queue_size)


def deploy(service: Callable[[], Service], requests: int, replicas: int = 1) -> Application:
    """One service per replica, and the case store that they share. Each replica accepts `requests` requests.

    The configuration file may override the number of replicas and their resources (processors, GPUs).
    """

    def app() -> ASGIApp:
        opened = service()
        opened.case_store = ReplicatedCaseStore(opened.local_cases, _caller(serve.get_deployment_handle(_CASES)))
        return create_app(opened)

    cases = serve.deployment(CaseStoreActor, name=_CASES, ray_actor_options={"num_cpus": 0}, max_ongoing_requests=1000)
    judge = serve.deployment(serve.ingress(app)(), name="Judge")
    return judge.options(num_replicas=replicas, max_ongoing_requests=requests + _MORE).bind(cases.bind())


def _caller(cases: DeploymentHandle) -> ActorCall:
    async def call(method: str, *arguments: Any) -> Any:
        try:
            return await asyncio.wait_for(getattr(cases, method).remote(*arguments), _CASES_S)
        except RayTaskError as error:  # raised by the method
            # As the error of a local store: the routes have a status for its type, and none for Ray's.
            raise error.cause from None
        except asyncio.TimeoutError:  # not the builtin before Python 3.11
            raise CaseStoreUnavailable(f"the case store gave no answer within {_CASES_S:g} s: try again") from None
        except (RayError, RayServeException) as error:
            raise CaseStoreUnavailable(
                f"the case store cannot be reached ({type(error).__name__}): try again"
            ) from None

    return call
