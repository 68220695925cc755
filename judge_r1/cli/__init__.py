"""The `judge-r1` command: the composition root, where all rooms meet."""

import sys

import typer

from judge_r1.cli import (
    analyse,
    audit,
    benchmarks,
    calibrate,
    data,
    demo,
    evaluate,
    export,
    inspect,
    keys,
    launch,
    merge,
    rationales,
    replay,
    report,
    serve,
    train,
    watch,
)
from judge_r1.core.errors import JudgeError
from retrieval.errors import RetrievalError

app = typer.Typer(
    name="judge-r1",
    help="Train, test and run agentic judges of long-context reasoning.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
building, training = (demo, data, audit, rationales, export), (train, launch, watch, merge)
judging = (evaluate, benchmarks, replay, calibrate, analyse, report, serve, keys)
for group in (*building, *training, *judging, inspect):
    group.register(app)

EXTRAS = {
    "anyio": "endpoints",
    "httpx": "endpoints",
    "tenacity": "endpoints",
    "torch": "train",
    "transformers": "train",
}
"""The smallest extra that brings a package; for others `all` is named."""


def main() -> None:
    """Run a command; a mistake of the user's is one sentence on standard error and exit status 2 (75 where another
    try may do)."""
    try:
        app()
    except (JudgeError, RetrievalError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(getattr(error, "exit_status", 2))
    except OSError as error:
        if error.filename is None:
            raise
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(error.name or "", "all")
        print(f"error: {error.name} is not installed: pip install 'judge-r1[{extra}]'", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
