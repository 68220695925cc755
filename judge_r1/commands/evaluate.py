"""eval, report: judge held-out pairs with one or more judges and put the results side by side."""

import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from judge_r1.config import EpisodeConfig, load_recipe, with_options
from judge_r1.errors import JudgeError

_SPEC = re.compile(r"(?:(?P<row>[\w .+-]+)=)?(?P<name>[a-z]+)(?::(?P<options>[^@]*))?@(?P<model>.+)")


def register(app: typer.Typer) -> None:
    app.command("eval")(eval_)


def eval_(
    judge: Annotated[list[str], typer.Option(help="[ROW=]agentic[:option=value,...]@MODEL; may be given again.")],
    path: Annotated[Path, typer.Option(help="A folder with cases.jsonl and pairs.jsonl.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    benchmark: Annotated[str, typer.Option(help="lrbench: pairs as `judge-r1 build` writes them.")] = "lrbench",
    recipe: Annotated[Path | None, typer.Option(help="Take the episode's settings from it.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The first N pairs only.")] = None,
    pair: Annotated[list[str] | None, typer.Option(help="Only the pair with this id; may be given again.")] = None,
    temperature: Annotated[float, typer.Option(min=0, help="0 is greedy.")] = 0.0,
    batch_size: Annotated[int, typer.Option(min=1, help="Episodes at a time.")] = 32,
    resume: Annotated[bool, typer.Option("--resume", help="Redo only what is missing in OUT.")] = False,
) -> None:
    """Evaluate judges on labelled pairs: OUT/summary.json, traces.jsonl and report.html.

    The episode runs as in --recipe, or as in the recipe of the run that MODEL lies in, or else by the defaults of
    recipes (standard prompt, full context, intfloat/e5-base-v2); options such as `context=full` override them.

    Example: `judge-r1 eval --judge "warm-up=agentic@runs/demo/warmup/model" --path runs/demo/data/test --out runs/eval`
    """
    from judge_r1.backends import Sampling
    from judge_r1.pairs import PairSet, load_pairs

    if benchmark != "lrbench":
        raise JudgeError(f"no benchmark is called {benchmark!r}; there is: lrbench")
    data = load_pairs(path)
    if missing := set(pair or ()) - data.by_id().keys():
        raise JudgeError(f"{path} holds no pair {min(missing)}")
    data = PairSet(data.cases, [p for p in data.pairs if not pair or p.pair_id in pair][:limit])
    rows = [(text, *parse_judge(text, recipe)) for text in judge]
    if len({row or text for text, row, _, _ in rows}) < len(rows):
        raise JudgeError("two judges have the same row name: name each of them, as in --judge NAME=agentic@MODEL")
    evaluation = Evaluation(data, out, resume=resume)
    for text, row, model, config in rows:
        evaluation.add(row or text, model, config, Sampling(temperature), batch_size)
    evaluation.finish([(later, earlier) for earlier, later in pairwise(evaluation.names)])


def parse_judge(text: str, recipe: Path | None) -> tuple[str | None, str, EpisodeConfig]:
    """(row name, model, episode configuration) of a judge SPEC."""
    match = _SPEC.fullmatch(text)
    if not match or match["name"] != "agentic":
        raise JudgeError(f"judge {text!r} must read [ROW=]agentic[:option=value,...]@MODEL")
    beside = Path(match["model"]).parent / "recipe.yaml"
    found = recipe or (beside if beside.exists() else None)
    config = load_recipe(found).episode if found else EpisodeConfig()
    return match["row"], match["model"], with_options(config, [o for o in (match["options"] or "").split(",") if o])


class Evaluation:
    """Rows evaluated one after the other on the same pairs, then summarised together."""

    def __init__(self, data: Any, out: Path, *, resume: bool) -> None:
        self.data, self.out, self.resume = data, out, resume
        self.outcomes: dict[str, Any] = {}
        self.settings: dict[str, dict[str, Any]] = {}
        self.seconds: dict[str, float] = {}

    @property
    def names(self) -> list[str]:
        return list(self.outcomes)

    def add(self, row: str, model: str, config: EpisodeConfig, sampling: Any, batch_size: int) -> None:
        from judge_r1.evaluation.runner import evaluate
        from judge_r1.judges.agentic import AgenticJudge

        started = time.monotonic()
        judge = AgenticJudge(model, self.data, config, sampling=sampling, batch_size=batch_size)
        self.outcomes[row] = evaluate(judge, self.data.pairs, row=row, out=self.out, resume=self.resume)
        self.settings[row] = judge.settings
        self.seconds[row] = round(time.monotonic() - started, 1)

    def finish(self, differences: list[tuple[str, str]], metrics: dict[str, Any] | None = None) -> dict[str, Any]:
        """Write summary.json and report.html, print the tables."""
        from judge_r1.evaluation.report import Episode, write_report
        from judge_r1.evaluation.runner import read_traces
        from judge_r1.evaluation.summary import summarise
        from judge_r1.evaluation.table import print_tables
        from judge_r1.jsonl import write_json

        summary = summarise(self.outcomes, differences, self.seconds, self.settings)
        write_json(self.out / "summary.json", summary)
        by_id = self.data.by_id()
        shown = [p.pair_id for p in self.data.pairs[:EPISODES_SHOWN]]
        episodes = [
            Episode(trace.row, by_id[trace.pair_id], trace.trajectory)
            for trace in read_traces(self.out)
            if trace.row in self.outcomes and trace.pair_id in shown
        ]
        write_report(self.out / "report.html", summary, metrics or {}, episodes)
        console = Console()
        print_tables(summary, console)
        console.print(f"report: {self.out / 'report.html'}")
        return summary


EPISODES_SHOWN = 28
