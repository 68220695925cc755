"""judge: judge the trace of an agent, and show the events that the judgment rests on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from judge_r1.judges.trace_tasks import TraceResult

SHOWN = 600
"""Characters of an event in the text output."""


def register(app: typer.Typer) -> None:
    app.command()(judge)


def judge(
    trace: Annotated[Path, typer.Argument(help="A trace: an Inspect log, verifiers, OpenTelemetry, or messages.")],
    spec: Annotated[str, typer.Option("--judge", metavar="SPEC", help="NAME[:options]@MODEL, as for `eval`.")],
    question: Annotated[str | None, typer.Option(help="A question about the trace that yes or no answers.")] = None,
    rubric: Annotated[Path | None, typer.Option(help="Criteria for the trace: JSON, YAML or TOML.")] = None,
    compare: Annotated[Path | None, typer.Option(help="Another trace of the same task.")] = None,
    number: Annotated[int | None, typer.Option(min=1, help="Which trace of a file with several, from 1.")] = None,
    compare_number: Annotated[int | None, typer.Option(min=1, help="The same for --compare.")] = None,
    mask: Annotated[bool, typer.Option("--mask", help="Mask secrets such as API keys, and count them.")] = False,
    allow_unread: Annotated[
        bool, typer.Option("--allow-unread", help="Judge a trace with texts that no event has, and count them.")
    ] = False,
    recipe: Annotated[Path | None, typer.Option(help="A recipe whose episode settings the judge uses.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    html: Annotated[Path | None, typer.Option(help="Also write a page with the evidence marked in the trace.")] = None,
) -> None:
    """Judge the trace of an agent: a question, a rubric, or which of two traces is better.

    A judge that searches (agentic, checklist:form=search) reads only the events that it finds; it searches with BM25
    unless the SPEC or a recipe names a retriever. Other judges read the whole trace. docs/traces.md has the formats.

    Example: `judge-r1 judge run.eval --judge agentic@https://host/v1#model --question "Did the agent run the tests
    before it claimed success?"`
    """
    import json

    from judge_r1.api import load_judge
    from judge_r1.cli.options import refuse
    from judge_r1.core.errors import ExitStatus, JudgeError
    from judge_r1.evaluation.report.trace_page import result_json, trace_page
    from judge_r1.files.jsonl import write_atomic
    from judge_r1.judges.trace_tasks import with_trace_options
    from judge_r1.traces import Masked, Unread

    if compare is None:
        refuse("is for --compare", compare_number=compare_number)
    if (rubric is None) == (question is None and compare is None):
        raise JudgeError("give --question, --rubric or --compare: of these, only --question and --compare go together")
    if compare is not None and (compare.resolve(), compare_number) == (trace.resolve(), number):
        typer.echo(f"note: {trace} is compared with itself: a judge that prefers one of the two guesses", err=True)
    masked = Masked() if mask else None
    loaded = load_judge(spec if recipe else with_trace_options(spec), recipe=recipe)
    found = loaded(
        trace=trace, question=question, rubric=rubric, compare=compare, masked=masked, number=number,
        compare_number=compare_number, unread=Unread(allowed=allow_unread),
    )  # fmt: skip
    count = masked.count if masked else None
    if html is not None:
        write_atomic(html, [trace_page(found, title=trace.name, masked=count)])
    typer.echo(json.dumps(result_json(found, masked=count), ensure_ascii=False, indent=2) if as_json else "\n".join(
        _lines(found, count)))  # fmt: skip
    if found.unanswered:
        typer.echo(f"warning: {found.unanswered}", err=True)
        broken = any(result.trajectory.infrastructure_failed for result in found.results)
        raise typer.Exit(ExitStatus.TRY_AGAIN if broken else ExitStatus.INVALID_DATA)


def _lines(found: "TraceResult", masked: int | None) -> list[str]:
    from judge_r1.core.principles import by_number
    from judge_r1.core.text_check import counted, printable
    from judge_r1.judges.trace_tasks import COMPARE, RUBRIC

    confidence = f" (confidence {found.confidence:.2f})" if found.confidence is not None else ""
    lines = [f"{found.verdict}{confidence}"]
    if found.violated_principles:
        whose = "The other trace" if found.kind == COMPARE else "The other answer"
        names = ", ".join(by_number(number).name for number in found.violated_principles)
        lines.append(f"{whose} violates {names}")
    for finding in found.findings:
        if found.kind == RUBRIC:
            lines.append(f"[{'failed' if finding.failed else finding.answer or 'invalid'}] {finding.question}")
        if finding.reason:
            lines.append(finding.reason)
        if finding.note:
            lines.append(f"note: {finding.note}")
    searches = sum(result.trajectory.searches for result in found.results)
    cited, known = sum(event.cited for event in found.events), len(found.events)
    counts = counted(len(found.trace.events), "event"), counted(searches, "search"), counted(known, "event")
    lines.append(f"{counts[0]}, {counts[1]}, {counts[2]} read or cited, {cited} cited")
    if masked is not None:
        lines.append(f"{counted(masked, 'secret')} masked")
    if found.trace.unread:
        lines.append(f"{counted(found.trace.unread, 'text')} of the file in no event: the judge does not see them")
    lines += [f"note: {note}" for note in found.trace.notes]
    for event in found.events:
        shown = found.trace.text[event.event.start : event.event.end]
        more = f" … ({counted(len(shown) - SHOWN, 'more character')})" if len(shown) > SHOWN else ""
        mark = {"read": "", "cited": "* "}.get(event.state, f"* ({event.state}) ")
        lines += ["", mark + shown[:SHOWN] + more]
    return ["\n".join(printable(part) for part in line.split("\n")) for line in lines]
