"""The `judge-r1` command. Each module parses one command, calls a pipeline and prints the result."""

import typer

from judge_r1.cli import (
    agreement,
    analyse,
    audit,
    benchmarks,
    build,
    calibrate,
    demo,
    doctor,
    eval,
    export,
    fit_weights,
    generate,
    index,
    keys,
    launch,
    merge,
    rate,
    rationales,
    replay,
    report,
    search,
    select,
    serve,
    split,
    stats,
    train,
    validate,
    watch,
)
from judge_r1.cli.failures import Commands, describe_statuses, log_thread_failures

app = typer.Typer(
    name="judge-r1",
    cls=Commands,
    help="Train, evaluate and serve agentic judges of long-context reasoning.",
    epilog=f"Exit status: {describe_statuses()}",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
_BUILDING = (demo, build, validate, split, select, audit, stats, rationales, export)
_TRAINING = (train, launch, watch, merge)
_JUDGING = (generate, eval, benchmarks, fit_weights, agreement, replay, calibrate, analyse, report, rate, serve, keys)
for command in (*_BUILDING, *_TRAINING, *_JUDGING, search, index, doctor):
    command.register(app)


def main() -> None:
    """Runs a command. `Commands` turns its errors into a sentence and an exit status."""
    log_thread_failures()
    app()


if __name__ == "__main__":
    main()
