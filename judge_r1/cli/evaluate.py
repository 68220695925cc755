"""eval: judge the items of a benchmark with one or more judges and put the results side by side."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from judge_r1.core.errors import JudgeError
from judge_r1.episode.config import EpisodeConfig

if TYPE_CHECKING:
    from judge_r1.benchmarks.base import LoadedBenchmark
    from judge_r1.evaluation.results import Outcome
    from judge_r1.evaluation.traces import Results
    from judge_r1.judges.panel import JudgePanel
    from judge_r1.models.base import Sampling


def register(app: typer.Typer) -> None:
    app.command("eval")(eval_)


def eval_(
    path: Annotated[Path, typer.Option(help="The benchmark's files, as `judge-r1 benchmarks` says.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    judge: Annotated[
        list[str] | None, typer.Option(help="[ROW=]NAME[:option=value,...][@MODEL], see below; may be given again.")
    ] = None,
    benchmark: Annotated[
        str, typer.Option(help="`judge-r1 benchmarks` lists them, and marks those that are unverified.")
    ] = "lrbench",
    subset: Annotated[str | None, typer.Option(help="A part of the benchmark, such as a domain.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="Take the episode's settings from it.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The first N items only.")] = None,
    item: Annotated[list[str] | None, typer.Option(help="Only the item with this id; may be given again.")] = None,
    temperature: Annotated[float, typer.Option(min=0, help="0 is greedy.")] = 0.0,
    seed: Annotated[int, typer.Option(help="What sampled answers are drawn by.")] = 0,
    batch_size: Annotated[int, typer.Option(min=1, help="Episodes at a time.")] = 32,
    resume: Annotated[bool, typer.Option("--resume", help="Redo only what is missing in OUT.")] = False,
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            help="Score this file of the benchmark's own published outputs, without a judge; may be repeated."
        ),
    ] = None,
) -> None:
    """Evaluate judges on a benchmark: OUT/summary.json, outcomes.jsonl, traces.jsonl and report.html.

    Judges: agentic@MODEL (thinks and searches) and direct@MODEL (one answer), where MODEL is a folder, a hub name,
    bundled:NAME, URL#MODEL of a chat endpoint or vllm:URL#MODEL of one that takes token ids (docs/judges.md);
    always-a, longer, overlap and random need no model; panel:orders=2,samples=3@JUDGE|JUDGE takes the majority of its
    games.

    The episode runs as in --recipe, or as in the recipe of the run that MODEL lies in, or else by the defaults of
    recipes (standard prompt, full context, intfloat/e5-base-v2); options such as `context=full` override them.

    Example: `judge-r1 eval --judge "warm-up=agentic@runs/demo/warmup/model" --path runs/demo/data/test --out runs/eval`
    """
    from judge_r1.benchmarks.base import BENCHMARKS
    from judge_r1.evaluation.traces import read_started
    from judge_r1.judges.base import JudgeBuild
    from judge_r1.judges.panel import make_panel, parse_panel
    from judge_r1.models.base import Sampling

    if predictions:
        if judge or limit or item or recipe or temperature or seed or resume:
            raise JudgeError("--predictions scores whole files, and no judge plays: give --benchmark, --path, --subset")
        score(benchmark, path, predictions, subset, out)
        return
    if not judge:
        raise JudgeError("nothing to evaluate: give --judge, or --predictions for outputs that were published")
    suite = BENCHMARKS.get(benchmark).load(path, subset)
    if missing := set(item or ()) - {i.item_id for i in suite.items}:
        raise JudgeError(f"{path} holds no item {min(missing)}")
    suite = replace(suite, items=[i for i in suite.items if not item or i.item_id in item][:limit])
    making = JudgeBuild(
        "", texts=suite.texts, sampling=Sampling(temperature, seed), batch_size=batch_size, recipe=recipe
    )
    names = [parse_panel(text).name for text in judge]
    if len(set(names)) < len(names):
        raise JudgeError("two judges have the same row name: name each of them, as in --judge NAME=agentic@MODEL")
    evaluation = Evaluation(suite, out, resume=resume, benchmark=benchmark, subset=subset)
    for text in judge:
        evaluation.play(partial(make_panel, text, making))
    evaluation.finish([(later, earlier) for earlier, later in pairwise(evaluation.names)])
    if others := [name for name in read_started(out) if name not in evaluation.names]:
        Console(stderr=True).print(
            f"note: {out} also holds {', '.join(others)}, which this summary leaves out: give their --judge too, with "
            "--resume, to have all rows in one",
            soft_wrap=True,
            markup=False,
        )


def score(benchmark: str, path: Path, predictions: list[Path], subset: str | None, out: Path) -> None:
    """Rows of published outputs, in a folder without judged rows."""
    from judge_r1.evaluation.published_outputs import score_predictions
    from judge_r1.evaluation.traces import ROWS

    if (out / ROWS).exists():
        raise JudgeError(f"{out} holds rows that judges have played: choose another --out")
    publish(out, score_predictions(benchmark, path, predictions, subset), {}, [], title=f"Judges on {benchmark}")


class Evaluation:
    """Rows evaluated one after the other on the same items, then summarised together."""

    def __init__(
        self,
        suite: "LoadedBenchmark",
        out: Path,
        *,
        resume: bool,
        benchmark: str = "lrbench",
        subset: str | None = None,
    ) -> None:
        self.suite, self.out, self.resume = suite, out, resume
        self.benchmark, self.subset = benchmark, subset
        self.results: dict[str, Results] = {}
        self.settings: dict[str, dict[str, Any]] = {}
        self.seconds: dict[str, float] = {}

    @property
    def names(self) -> list[str]:
        return list(self.results)

    @property
    def outcomes(self) -> "dict[str, list[Outcome]]":
        """Of labelled pairs: what each row did, principles included."""
        from judge_r1.evaluation.results import pair_outcomes

        assert self.suite.pairs is not None
        return {name: pair_outcomes(results) for name, results in self.results.items()}

    def add(self, row: str, model: str, config: EpisodeConfig, sampling: "Sampling", batch_size: int) -> None:
        """One agentic judge as a row."""
        from judge_r1.judges.agentic import AgenticJudge
        from judge_r1.judges.base import JudgeBuild
        from judge_r1.judges.panel import JudgePanel

        making = JudgeBuild(model, texts=self.suite.texts, sampling=sampling, batch_size=batch_size)
        self.play(lambda: JudgePanel(row, (AgenticJudge(making, config),)))

    def play(self, make: Callable[[], "JudgePanel"]) -> None:
        """Make a row (models are loaded for as long as they are asked) and play it."""
        from judge_r1.evaluation.runner import evaluate, row_settings

        started = time.monotonic()
        row = make()
        self.results[row.name] = evaluate(row, self.suite, out=self.out, resume=self.resume)
        self.settings[row.name] = row_settings(row)
        self.seconds[row.name] = round(time.monotonic() - started, 1)

    def finish(self, differences: list[tuple[str, str]], metrics: dict[str, Any] | None = None) -> dict[str, Any]:
        """Write summary.json, outcomes.jsonl and report.html, print the tables."""
        from judge_r1.evaluation.item_summary import summarise_items, with_baselines
        from judge_r1.evaluation.summary import summarise
        from judge_r1.evaluation.traces import total_usage, write_outcomes

        played = {name: results.outcomes() for name, results in self.results.items()}
        rows, settings = with_baselines(self.suite, played, self.settings)
        if self.suite.pairs is not None:
            summary = summarise(self.outcomes, differences, self.seconds, settings)
            summary = {"benchmark": self.benchmark, **summary}
        else:
            summary = summarise_items(self.benchmark, self.suite, rows, differences, self.seconds, settings)
        summary["subset"] = self.subset
        for row in summary["rows"]:
            traces = self.results[row["name"]].values() if row["name"] in self.results else ()
            if spent := total_usage(trace for game in traces for trace in game):
                row["usage"] = spent
        write_outcomes(self.out, rows)
        publish(self.out, summary, metrics or {}, list(self.results.values()), title=f"Judges on {self.benchmark}")
        return summary


def publish(out: Path, summary: dict[str, Any], metrics: dict[str, Any], results: "list[Results]", title: str) -> None:
    """Write summary.json and report.html, print the tables."""
    from judge_r1.core.jsonl import write_json
    from judge_r1.evaluation.report.page import write_report
    from judge_r1.evaluation.report.tables import print_tables

    write_json(out / "summary.json", summary)
    write_report(out / "report.html", summary, metrics, results, title=title)
    console = Console()
    print_tables(summary, console)
    console.print(f"report: {out / 'report.html'}")
