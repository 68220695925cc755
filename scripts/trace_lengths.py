"""Accuracy by the length of an agent's trace: the whole trace in the prompt, its end, a summary, and search.

    python -m scripts.trace_lengths --out runs/trace-lengths

The judge is scripted: it decides by the events that it has read, says the wrong answer in a known share of cases, and
tosses a coin where it has read nothing that decides. It runs behind a real HTTP server and in the real judges, with the
real retriever. So the results show what reaches a judge, not what a language model makes of it. The server refuses
prompts above its context. The summary is scripted, too: of every event it keeps the first and the last line.
"""

import argparse
import importlib
import math
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from data_builders.build import build_by_rules
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan
from data_builders.sources.traces.agent import CHARACTERS_PER_TOKEN
from judge_r1.benchmarks.base import BENCHMARKS, LoadedBenchmark, Order
from judge_r1.core.items import Item
from judge_r1.core.jsonl import write_json
from judge_r1.core.record_base import content_hash
from judge_r1.core.trace import EventSpan, trace_events
from judge_r1.episode.task import PairwiseTask
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.report.charts import Figure, colors_of, line_chart
from judge_r1.evaluation.report.standalone import standalone
from judge_r1.evaluation.report.tables import NONE, Grid, markdown
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel
from retrieval.events import MARK, render_event

ROOT = Path(__file__).parents[1]
ERRORS = 0.05
_SIDES = re.compile(r"\n\nReasoning A:\n(.*?)\n\nReasoning B:\n(.*?)\s*\Z", re.DOTALL)
_NUMBER = re.compile(r"^\[\d+\] (?=\[event )", re.MULTILINE)
_INFORMATION = re.compile(r"<information>(.*?)</information>", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--lengths", type=int, nargs="+", default=[2_000, 20_000, 200_000, 2_000_000], help="tokens")
    parser.add_argument("--runs", type=int, default=6, help="runs of the agent for each length (default: 6)")
    parser.add_argument("--context", type=int, default=256_000, help="context of the model in tokens")
    parser.add_argument("--last", type=int, default=32_000, help="tokens that truncation keeps")
    options = parser.parse_args(arguments)
    rows = [row for length in options.lengths for row in measure(length, options)]
    write_json(options.out / "trace_lengths.json", rows)
    series = {
        name: [(row["log10_tokens"], row["accuracy"]) for row in rows if row["judge"] == name and row["read"]]
        for name in dict.fromkeys(row["judge"] for row in rows)
    }
    colors = colors_of(list(series))
    chart = line_chart("Accuracy by log10 of the tokens of a trace", series, colors, dots=True)
    (options.out / "trace_lengths.svg").write_text(standalone(Figure("Accuracy by length", chart, colors)), "utf-8")
    columns = ("tokens", "judge", "accuracy [95 %]", "does not fit", "calls a pair", "tokens read a pair")
    cells = tuple(
        (f"{row['length']:,}", row["judge"],
         f"{row['accuracy']:.2f} [{row['low']:.2f}, {row['high']:.2f}]" if row["read"] else NONE,
         f"{row['does_not_fit']:.2f}", f"{row['calls']:.1f}", f"{row['read']:,.0f}") for row in rows
    )  # fmt: skip
    Console(soft_wrap=True).print(markdown(Grid("", "", columns, cells)), markup=False, highlight=False)


def measure(length: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of one length."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    server_class = importlib.import_module("fake_judge_endpoint").JudgeServer
    folder = options.out / f"pairs-{length}"
    plan = BuildPlan("traces", kinds=("single",), variants=2, limit=options.runs, options=[f"tokens={length}"])
    build_by_rules(generator_for("traces", with_teacher=False)(plan), folder)
    loaded = BENCHMARKS.get("lrbench").load(folder, None)
    judges: Mapping[str, tuple[str, LoadedBenchmark]] = {
        "whole trace": ("direct", loaded),
        f"last {options.last} tokens": ("direct", _with(loaded, partial(last, tokens=options.last))),
        "summary": ("direct", _with(loaded, summary)),
        "search": ("agentic:context=none,retriever=bm25", loaded),
    }
    rows = []
    for number, (name, (judge, benchmark)) in enumerate(judges.items()):
        with (
            server_class(partial(chat, context=options.context)) as server,
            Evaluation(benchmark, options.out / f"eval-{length}-{number}", resume=False) as evaluation,
        ):
            started = time.monotonic()
            spec = f"{name}={judge}@{server.url}#scripted"
            evaluation.run(partial(make_panel, spec, JudgeBuild("", texts=benchmark.texts, batch_size=4)))
            [row] = evaluation.finish([], brief=True)["rows"]
        rows.append(
            {
                "length": length, "log10_tokens": math.log10(length),
                "judge": name, "accuracy": row["accuracy"], "low": row["ci95"][0], "high": row["ci95"][1],
                "does_not_fit": row["does_not_fit"] or 0.0, "n": row["n"],
                "calls": row["usage"]["calls"] / row["n"], "read": row["usage"]["input_tokens"] / row["n"],
                "seconds": time.monotonic() - started,
            }
        )  # fmt: skip
    return rows


def _with(loaded: LoadedBenchmark, shown: Callable[[str], str]) -> LoadedBenchmark:
    """The benchmark with another text in the place of each case."""

    def task(item: Item, order: Order) -> PairwiseTask:
        made = loaded.task(item, order)
        assert isinstance(made, PairwiseTask)
        return replace(made, context=shown(made.context))

    return replace(loaded, task=task)


def last(text: str, tokens: int) -> str:
    """The end of a trace, from the first whole event on."""
    kept = text[-int(tokens * CHARACTERS_PER_TOKEN) :]
    return text if len(kept) == len(text) else MARK + kept[kept.index("\n[event ") + 1 :]


def summary(text: str) -> str:
    """Of every event the first and the last line."""
    parts = [MARK]
    for event in trace_events(text):
        lines = event.text.strip().splitlines() or [""]
        parts.append(render_event(event.index, event.kind, event.name, "\n".join(dict.fromkeys((lines[0], lines[-1])))))
    return "".join(parts)


def chat(path: str, body: dict[str, Any], context: int) -> tuple[int, Any]:
    """The reply of the scripted judge."""
    messages = body["messages"]
    read = int(sum(len(message["content"]) for message in messages) / CHARACTERS_PER_TOKEN)
    if read > context:
        message = f"This model's maximum context length is {context} tokens. However, you requested {read} tokens."
        return 400, {"error": {"message": message, "code": 400}}
    text = reply([message["content"] for message in messages])
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return 200, {"choices": [choice], "usage": {"prompt_tokens": read, "completion_tokens": len(text) // 4}}


def reply(messages: Sequence[str]) -> str:
    """A search for what is not known yet, or the answer."""
    found = _SIDES.search(messages[1])
    assert found is not None
    sides = found.groups()
    lines = [(one, other) for one, other in zip(*(side.split("\n") for side in sides), strict=True) if one != other]
    passages = "\n".join(_INFORMATION.findall("\n".join(messages[2:])))
    shown = _NUMBER.sub("", passages) or messages[1][: found.start()]
    events = trace_events(shown[max(0, shown.find("[event ")) :])
    verdicts = [verdict(*pair, events) for pair in lines]
    missing = next((pair for pair, found in zip(lines, verdicts, strict=True) if found is None), None)
    may_search = missing is not None and "<search>" in messages[0] and len(messages) < 8
    if may_search and missing and (query := next_query(missing, events, len(messages) // 2)):
        return f"<think>I look it up.</think><search>{query}"
    known = [one for one in verdicts if one is not None]
    drawn = int(content_hash(*sorted(sides)), 16)
    right = known[0] if known else bool(drawn % 2)
    if known and drawn % 1000 < 1000 * ERRORS:
        right = not right
    principle = 4 if re.search(r"\. (Among|The file `)", lines[0][0]) else 2
    return f'<answer>{{"comparison": "{"A>B" if right else "A<B"}", "violated_principles": [{principle}]}}'


def verdict(one: str, other: str, events: Sequence[EventSpan]) -> bool | None:
    """Whether the first of two lines is true, by the events; None if they do not say."""
    texts = evidence(one, events), evidence(other, events)
    held = [any(value(line) in text for text in found) for line, found in zip((one, other), texts, strict=True)]
    return None if held[0] == held[1] else held[0]


def value(line: str) -> str:
    """What a line claims: the last text in quotes, or in backquotes."""
    return str(re.findall(r"[“`]([^”`]+)[”`]", line)[-1])


def command_of(event: EventSpan) -> str:
    """The command of a call; what follows it may be the frame around a passage."""
    return event.text.strip().partition("\n")[0].removeprefix("command: ")


def evidence(line: str, events: Sequence[EventSpan]) -> list[str]:
    """The texts of the events that can prove a line."""
    calls = [event for event in events if event.kind == "call"]
    results = {event.index: event.text for event in events if event.kind == "result"}
    if run := re.search(r"the (first|last|only) run of `([^`]+)`|The file (\S+) has", line):
        command = run[2] or f"wc -l {run[3]}"
        of_command = [event for event in calls if command_of(event) == command]
        chosen = of_command[:1] if run[1] == "first" else of_command[-1:]
        return [results[event.index + 1] for event in chosen if event.index + 1 in results]
    if edit := re.search(r"For (\w+), the edited", line):
        return [event.text for event in calls if "sed -i" in event.text and edit[1] in event.text]
    if "The notes were kept" in line:
        return [event.text for event in calls if "echo " in event.text][-1:]
    return [event.text for event in calls]


def next_query(lines: tuple[str, str], events: Sequence[EventSpan], turn: int) -> str | None:
    """The next search: for the command, then for the event after it; for a name, with the kind of event."""
    line = lines[0] if turn != 2 else lines[1]
    run = re.search(r"run of `([^`]+)`|The file (\S+) has", lines[0])
    if run:
        command = run[1] or f"wc -l {run[2]}"
        calls = [event.index for event in events if command_of(event) == command]
        if not calls:
            return f"kind:call {command}" if turn == 1 else None
        return f"event {(min if 'the first run' in lines[0] else max)(calls) + 1}"
    if edit := re.search(r"For (\w+), the edited", line):
        return f"kind:call sed {edit[1]}"
    if "The notes were kept" in line:
        return "kind:call echo NOTES.md tail"
    return f"kind:call {value(line)}"


if __name__ == "__main__":
    main()
