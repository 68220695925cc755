"""serve: a judge behind an API."""

from pathlib import Path
from typing import Annotated

import typer

from judge_r1.core.errors import JudgeError


def register(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    judge: Annotated[str, typer.Option(help="NAME[:option=value,...]@MODEL, as for `judge-r1 eval`.")],
    host: Annotated[str, typer.Option(help="Address to listen on; any but this machine's own needs --keys.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    recipe: Annotated[Path | None, typer.Option(help="Take the episode's settings from it.")] = None,
    running: Annotated[int, typer.Option(min=1, help="Episodes at a time.")] = 16,
    waiting: Annotated[int, typer.Option(min=0, help="Requests that may wait; more are told to come again.")] = 256,
    seconds: Annotated[float, typer.Option(min=1, help="Deadline of a judgment, with its wait.")] = 300.0,
    keys: Annotated[Path | None, typer.Option(help="Ask for a key of this file (`judge-r1 keys add`).")] = None,
    traces: Annotated[Path | None, typer.Option(help="Keep every episode in this folder; else none is kept.")] = None,
    body_mib: Annotated[int, typer.Option(min=1, help="Size of a request, at most.")] = 4,
    case_mib: Annotated[int, typer.Option(min=1, help="Size of one case, at most.")] = 2,
    cases_mib: Annotated[int, typer.Option(min=1, help="Size of all cases that are kept; the least used go.")] = 256,
    batch: Annotated[int, typer.Option(min=1, help="Judgments in one batch, at most.")] = 256,
) -> None:
    """Serve a judge: POST /v1/judge, and the rest at /docs.

    Example: `judge-r1 serve --judge agentic@runs/demo/grpo/model`
    """
    try:
        from judge_r1.serving.middleware.body_limit import MIB, Limits
        from judge_r1.serving.server import check_free, check_host, run_app
        from judge_r1.serving.service import open_service
    except ModuleNotFoundError as error:
        raise JudgeError(f"serving needs {error.name}: pip install 'judge-r1[serve]'") from None
    check_host(host, keys)
    check_free(host, port)
    if case_mib > cases_mib:
        raise JudgeError(f"--case-mib {case_mib} is more than --cases-mib {cases_mib}, which all cases share")
    service = open_service(
        judge,
        recipe=recipe,
        max_concurrency=running,
        queue_size=waiting,
        timeout=seconds,
        limits=Limits(body=body_mib * MIB, case=case_mib * MIB, batch=batch),
        case_bytes=cases_mib * MIB,
        keys=keys,
        traces=traces,
    )
    run_app(service, host, port)
