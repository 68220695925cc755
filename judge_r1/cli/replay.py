"""replay: score the saved outputs of an evaluation again, without a model."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from judge_r1.cli.old_flags import old_flags
from judge_r1.core.errors import JudgeError


def register(app: typer.Typer) -> None:
    app.command(context_settings=old_flags(rule="aggregation"))(replay)


def replay(
    evaluation: Annotated[Path, typer.Argument(help="A folder that `eval` wrote.")],
    path: Annotated[Path, typer.Option(help="The benchmark's files, for the labels.")],
    out: Annotated[Path, typer.Option("--out", help="A new folder to write.")],
    benchmark: Annotated[str | None, typer.Option(help="That of summary.json by default.")] = None,
    subset: Annotated[str | None, typer.Option(help="That of summary.json by default.")] = None,
    parser: Annotated[str | None, typer.Option(help="strict or tolerant; unchanged by default.")] = None,
    aggregation: Annotated[
        str,
        typer.Option(help="own: the benchmark's; first: the first vote of each item; all: every vote must be right."),
    ] = "own",
    reward: Annotated[str, typer.Option(help="paper, comparison or labels (of labelled pairs).")] = "paper",
) -> None:
    """Score saved outputs again with another parser, aggregation or reward. Writes OUT/summary.json and report.html.

    Example: `judge-r1 replay runs/eval --path runs/demo/data/test --parser tolerant --out runs/eval-tolerant`
    """
    from judge_r1.benchmarks.base import BENCHMARKS
    from judge_r1.evaluation.pipeline import Evaluation
    from judge_r1.evaluation.report.discovery import LRBENCH
    from judge_r1.evaluation.rescore import Parser, Reward, Rule, rescore, with_rule
    from judge_r1.evaluation.traces import ROWS, TRACES, StoredTraces, read_started, stored_traces

    for name, value, kind in (
        ("parser", parser, Parser),
        ("aggregation", aggregation, Rule),
        ("reward", reward, Reward),
    ):
        if value is not None and value not in get_args(kind):
            raise JudgeError(f"--{name} is {' or '.join(get_args(kind))}, not {value!r}")
    if (out / "summary.json").exists():
        raise JudgeError(f"{out} already holds a summary: choose another --out")
    before, rows = _read(evaluation / "summary.json"), read_started(evaluation)
    benchmark = benchmark or before.get("benchmark", LRBENCH)
    subset = subset or before.get("subset")
    panels = {row["name"] for row in before["rows"]}
    traces = {panel: found for panel, found in stored_traces(evaluation).items() if panel in panels}  # may hold others
    judged = {item_id for found in traces.values() for item_id in found}
    suite = with_rule(BENCHMARKS.get(benchmark).load(path, subset), aggregation)  # type: ignore[arg-type]
    if unknown := judged - {item.item_id for item in suite.items}:
        raise JudgeError(
            f"{evaluation} judged {len(unknown)} item(s) that {path} does not hold, such as {min(unknown)}: give the "
            "--benchmark, --path and --subset that it was run on"
        )
    suite = replace(suite, items=[item for item in suite.items if item.item_id in judged])
    again = Evaluation(suite, out, resume=False, name=benchmark, subset=subset)
    for row in before["rows"]:
        name = row["name"]
        if row["settings"].get("baseline"):
            continue  # out of the benchmark's files: made anew
        if name not in rows:
            raise JudgeError(f"{evaluation / ROWS} says nothing of row {name!r}: the folder is not whole")
        own = traces.get(name, StoredTraces(evaluation / TRACES))
        settings = rows[name]["settings"]
        again.results[name] = rescore(name, own, suite, settings, parser=parser, reward=reward)  # type: ignore[arg-type]
        changed = {
            key: value for key, value in (("rule", aggregation), ("reward", reward)) if value not in ("own", "paper")
        }
        again.settings[name] = settings | ({"parser": parser} if parser else {}) | changed
        again.seconds[name] = before["seconds"].get(name, 0.0)
    out.mkdir(parents=True, exist_ok=True)
    again.finish([(difference["a"], difference["b"]) for difference in before["differences"]])


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise JudgeError(f"{path} cannot be read ({error}): replay takes a folder that `eval` has finished") from None
    return dict(data)
