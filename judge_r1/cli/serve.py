"""serve: serve a judge over HTTP."""

from pathlib import Path
from typing import Annotated

import typer

from judge_r1.cli.options import refuse
from judge_r1.core.errors import JudgeError


def register(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    judge: Annotated[str, typer.Option(help="NAME[:option=value,...]@MODEL, as in `judge-r1 eval`.")],
    host: Annotated[str, typer.Option(help="Address to listen on. Any address but loopback needs --keys.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    recipe: Annotated[Path | None, typer.Option(help="Recipe with the episode settings.")] = None,
    max_concurrency: Annotated[int, typer.Option(min=1, help="Requests that run concurrently.")] = 16,
    queue_size: Annotated[
        int, typer.Option(min=0, help="Requests that may wait; the server rejects more with status 429.")
    ] = 256,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds per request, including its wait.")] = 300.0,
    keys: Annotated[Path | None, typer.Option(help="Require a key of this file (`judge-r1 keys add`).")] = None,
    traces: Annotated[
        Path | None, typer.Option(help="Write every episode to this folder; by default none is written.")
    ] = None,
    body_mib: Annotated[int, typer.Option(min=1, help="Maximum size of a request.")] = 4,
    case_mib: Annotated[int, typer.Option(min=1, help="Maximum size of one case.")] = 2,
    cases_mib: Annotated[
        int, typer.Option(min=1, help="Maximum size of all stored cases; the least recently used are evicted.")
    ] = 256,
    max_batch_size: Annotated[int, typer.Option(min=1, help="Maximum number of judgments in one batch.")] = 256,
    group_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a member of a group waits for the others at most.")
    ] = 120.0,
    max_connections: Annotated[
        int, typer.Option(min=1, help="Maximum number of open connections; more are answered with status 503.")
    ] = 512,
    max_connections_per_client: Annotated[
        int, typer.Option(min=1, help="Maximum number of them from one address; raise it behind a proxy.")
    ] = 256,
    drain_timeout: Annotated[
        float, typer.Option(min=0, help="Seconds that running requests may take after SIGTERM or Ctrl-C.")
    ] = 60.0,
) -> None:
    """Serve a judge over HTTP: `POST /v1/judge`; `/docs` shows the whole API.

    Example: `judge-r1 serve --judge agentic@runs/demo/grpo/model`
    """
    from judge_r1.judges.panel import backends, check_models
    from judge_r1.serving.address import check_free, check_host

    if not backends(judge):
        refuse("is for a judge with a model", recipe=recipe)
    check_models(judge)
    check_host(host, keys)
    check_free(host, port)
    if case_mib > cases_mib:
        raise JudgeError(f"--case-mib {case_mib} exceeds --cases-mib {cases_mib}, the limit for all cases")
    try:
        from judge_r1.serving.middleware.body_limit import MIB, Limits
        from judge_r1.serving.protocol import ConnectionLimits
        from judge_r1.serving.server import run_app
        from judge_r1.serving.service import open_service
    except ModuleNotFoundError as error:
        raise JudgeError(f"serving needs {error.name}: pip install 'judge-r1[serve]'") from None
    service = open_service(
        judge,
        recipe=recipe,
        max_concurrency=max_concurrency,
        queue_size=queue_size,
        timeout=timeout,
        limits=Limits(body=body_mib * MIB, case=case_mib * MIB, batch=max_batch_size, group_s=group_timeout),
        case_bytes=cases_mib * MIB,
        keys=keys,
        traces=traces,
    )
    connections = ConnectionLimits(max_connections, max_connections_per_client, drain_s=drain_timeout)
    run_app(service, host, port, connections)
