"""The same app on Ray Serve: several replicas behind one address, on one machine or many.

    serve run clusters/ray-serve.yaml

Each replica loads the judge of the SPEC and has a queue, rates and metrics of its own. The cases that were put are one
deployment beside them, `Cases`, which every replica asks. A replica that dies is replaced; what it was playing gets a
5xx, which `judge_r1.client` asks again. Where `Cases` dies it is replaced, too, and empty.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve import Application
from ray.serve.exceptions import RayServeException
from ray.serve.handle import DeploymentHandle
from starlette.types import ASGIApp

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import explain
from judge_r1.serving.app import create_app
from judge_r1.serving.local_case_store import CasesAway
from judge_r1.serving.replicated_case_store import Asking, CaseStoreActor, ReplicatedCaseStore
from judge_r1.serving.service import Service, open_service

_MORE = 64
"""Requests beyond the queue that a replica takes in, so that it is its queue that refuses, with `Retry-After`, and
`/healthz` has an answer."""
_CASES = "Cases"
_CASES_S = 10.0
"""Deadline of what `Cases` is asked; one that died is mostly replaced by then."""


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

    def service() -> Service:
        given = served.model_dump()
        return open_service(given.pop("judge"), **given)

    return deploy(service, served.running + served.waiting)


def deploy(service: Callable[[], Service], requests: int, replicas: int = 1) -> Application:
    """A service, made anew in each of the replicas, of which each takes in so many requests, and the cases of them all.
    How many replicas there are and what each needs (processors, GPUs) is also for the configuration file to say."""

    def app() -> ASGIApp:
        made = service()
        made.kept = ReplicatedCaseStore(made.shelf, _asking(serve.get_deployment_handle(_CASES)))
        return create_app(made)

    cases = serve.deployment(CaseStoreActor, name=_CASES, ray_actor_options={"num_cpus": 0}, max_ongoing_requests=1000)
    judge = serve.deployment(serve.ingress(app)(), name="Judge")
    return judge.options(num_replicas=replicas, max_ongoing_requests=requests + _MORE).bind(cases.bind())


def _asking(cases: DeploymentHandle) -> Asking:
    async def ask(method: str, *given: Any) -> Any:
        try:
            return await asyncio.wait_for(getattr(cases, method).remote(*given), _CASES_S)
        except RayTaskError as error:  # raised by the method
            raise error.cause from None
        except asyncio.TimeoutError:  # not the builtin before Python 3.11
            raise CasesAway(f"the keeper of the cases gave no answer within {_CASES_S:g} s: try again") from None
        except (RayError, RayServeException) as error:
            raise CasesAway(f"the keeper of the cases cannot be asked ({type(error).__name__}): try again") from None

    return ask
