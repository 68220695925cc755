"""serve: a judge behind an API."""

from pathlib import Path
from typing import Annotated

import typer

from judge_r1.errors import JudgeError


def register(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    judge: Annotated[str, typer.Option(help="NAME[:option=value,...]@MODEL, as for `judge-r1 eval`.")],
    host: Annotated[str, typer.Option(help="Address to listen on; only this machine by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    recipe: Annotated[Path | None, typer.Option(help="Take the episode's settings from it.")] = None,
    running: Annotated[int, typer.Option(min=1, help="Episodes at a time.")] = 16,
    waiting: Annotated[int, typer.Option(min=0, help="Requests that may wait; more are told to come again.")] = 256,
    seconds: Annotated[float, typer.Option(min=1, help="Deadline of a judgment, with its wait.")] = 300.0,
) -> None:
    """Serve a judge: POST /v1/judge, and the rest at /docs.

    Example: `judge-r1 serve --judge agentic@runs/demo/grpo/model`
    """
    try:
        import uvicorn

        from judge_r1.serving.app import create_app
        from judge_r1.serving.service import open_service
    except ModuleNotFoundError as error:
        raise JudgeError(f"serving needs {error.name}: pip install 'judge-r1[serve]'") from None
    service = open_service(judge, recipe=recipe, running=running, waiting=waiting, seconds=seconds)
    uvicorn.run(create_app(service), host=host, port=port, timeout_graceful_shutdown=60)
