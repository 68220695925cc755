"""The `judge-r1` command. Each module parses one command, calls a pipeline and prints the result."""

import sys

import typer

from judge_r1.cli import (
    analyse,
    audit,
    benchmarks,
    build,
    calibrate,
    demo,
    doctor,
    eval,
    export,
    keys,
    launch,
    merge,
    rationales,
    replay,
    report,
    search,
    serve,
    split,
    stats,
    train,
    validate,
    watch,
)
from judge_r1.core.errors import JudgeError
from retrieval.errors import RetrievalError

app = typer.Typer(
    name="judge-r1",
    help="Train, evaluate and serve agentic judges of long-context reasoning.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
_BUILDING = (demo, build, validate, split, audit, stats, rationales, export)
_TRAINING = (train, launch, watch, merge)
_JUDGING = (eval, benchmarks, replay, calibrate, analyse, report, serve, keys)
for command in (*_BUILDING, *_TRAINING, *_JUDGING, search, doctor):
    command.register(app)

EXTRAS = {
    "anyio": "endpoints",
    "httpx": "endpoints",
    "tenacity": "endpoints",
    "torch": "train",
    "transformers": "train",
}
"""The smallest extra that installs a package; `all` for the others."""


def main() -> None:
    """Runs a command. A user error prints one sentence to standard error and exits with status 2 (75 if a retry may
    succeed)."""
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
