#!/usr/bin/env bash
# typer and click: the click that is installed beside typer does not know typer's commands.
# typer was built on click, and helpers call `click.get_current_context()` inside a command. typer now carries a copy of
# click, so the installed click has no context there. One would expect that the two still meet.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages typer==0.29.2 click==8.5.1
seen <<'PY'
import click
import typer
from typer.testing import CliRunner

app = typer.Typer()


@app.command()
def main(context: typer.Context) -> None:
    print(type(context).__module__)
    print(click.get_current_context(silent=True))


result = CliRunner().invoke(app, [])
print("the module of the context, and what click sees of it:", " ".join(result.output.split()))
raise SystemExit(result.exit_code != 0 or result.output.split()[-1] != "None")
PY
