"""The `eval` command: evaluates one or more judges on a benchmark."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from judge_r1.cli.options import Engine, Workers, ray_workers, refuse
from judge_r1.core.errors import JudgeError

BATCH = 32
NO_JUDGE = "is for judges, and --predictions scores published outputs without a judge"


def register(app: typer.Typer) -> None:
    app.command("eval")(eval_)


def eval_(
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    path: Annotated[
        Path | None,
        typer.Option(help="The benchmark's files (see `judge-r1 benchmarks`), if they are not in the package."),
    ] = None,
    judge: Annotated[
        list[str] | None, typer.Option(help="[NAME=]JUDGE[:option=value,...][@MODEL], see below; may be repeated.")
    ] = None,
    baselines: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Evaluate MODEL with each prompting baseline (docs/baselines.md)."),
    ] = None,
    examples: Annotated[
        Path | None, typer.Option(help="With --baselines: training pairs, from which few-shot takes its examples.")
    ] = None,
    table11: Annotated[
        bool,
        typer.Option(
            "--table11", help="Evaluate the model of each agentic judge with the paper's evaluation prompt, too."
        ),
    ] = False,
    benchmark: Annotated[str, typer.Option(help="`judge-r1 benchmarks` lists them.")] = "lrbench",
    subset: Annotated[str | None, typer.Option(help="A part of the benchmark, such as a domain.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="Recipe with the episode settings.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Evaluate only N items, spread over the groups.")] = None,
    temperature: Annotated[float, typer.Option(min=0, help="Sampling temperature; 0 is greedy decoding.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Sampling seed.")] = 0,
    batch_size: Annotated[int, typer.Option(min=1, help="Number of episodes that run concurrently.")] = BATCH,
    engine: Engine = "local",
    workers: Workers = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Compare all others with this judge; by default each with the one before."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Run only the requests that OUT lacks.")] = False,
    unanswered: Annotated[
        Literal["excluded", "wrong"],
        typer.Option(help="How items count whose request the server refuses on each attempt."),
    ] = "excluded",
    log_format: Annotated[
        Literal["inspect"] | None,
        typer.Option(help="Also write OUT/logs/JUDGE.eval, which `inspect view` opens (extra inspect)."),
    ] = None,
    predictions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE",
            help="Score this file of the benchmark's own published outputs, without a judge; may be repeated.",
        ),
    ] = None,
) -> None:
    """Evaluate judges on a benchmark and write summary.json, outcomes.jsonl, votes.jsonl and report.html to OUT.

    Judges with a model: agentic@MODEL thinks and searches, direct@MODEL answers at once. MODEL is a folder, a hub name,
    bundled:NAME, URL#MODEL (a chat endpoint), vllm:URL#MODEL (an endpoint that takes token ids) or vllm:NAME (vLLM is
    started for the model); see docs/judges.md.
    Judges without a model: always-a, evidence, longer and random; of pairs with a case, evidence and longer are always
    evaluated, too. A panel returns the majority of its votes:
    JUDGE|JUDGE, panel:orders=2,samples=3(JUDGE). --baselines MODEL adds six prompting baselines and compares all judges
    with the first, unless --reference names another. --table11 adds a row to each agentic judge: its model with the
    prompt that the paper evaluates all models with (Table 11).

    The episode settings come from --recipe. Without it, they come from the recipe in MODEL's run folder if there is
    one, else they are the defaults (standard prompt, full context, intfloat/e5-base-v2). A benchmark may set its own
    token limits. Options such as `context=full` override both. Without a judge, the baselines that a benchmark
    determines from its files are evaluated.

    Example: `judge-r1 eval --judge "warm-up=agentic@runs/demo/warmup/model" --path runs/demo/data/test --out runs/eval`
    """
    from judge_r1.judges.panel import check_models

    of_models: dict[str, object] = {"recipe": recipe, "temperature": temperature, "batch_size": batch_size != BATCH}
    inspect_logs = log_format == "inspect"
    of_models["unanswered"] = unanswered != "excluded"
    if predictions:
        refuse(NO_JUDGE, judge=judge, baselines=baselines, examples=examples, table11=table11, limit=limit)
        refuse(NO_JUDGE, **of_models, seed=seed, engine=engine != "local", workers=workers, resume=resume)
        refuse(NO_JUDGE, log_format=inspect_logs)
        from judge_r1.benchmarks.base import files_of
        from judge_r1.evaluation.pipeline import evaluate_predictions

        named = [_named_file(one) for one in predictions]
        evaluate_predictions(
            benchmark,
            files_of(benchmark, path),
            [file for _, file in named],
            subset,
            out,
            [name for name, _ in named],
            reference,
        )
        return
    if examples and not baselines:
        raise JudgeError("--examples is for --baselines; a single judge takes them as direct:examples=FOLDER@MODEL")
    for spec in judge or () if engine == "local" else ():
        check_models(spec)
    from judge_r1.evaluation.selection import ItemSelection

    selection = ItemSelection(benchmark, path, subset, limit)
    loaded, on_ray = selection.load(), ray_workers(engine, workers)
    if not judge and not baselines and not loaded.baselines(loaded.items):
        raise JudgeError("nothing to evaluate: give --judge, --baselines, or --predictions for published outputs")
    from judge_r1.core.text_check import check_spelling
    from judge_r1.evaluation.folder import read_started
    from judge_r1.evaluation.pipeline import Evaluation
    from judge_r1.evaluation.ray_judge import RayEvaluation
    from judge_r1.evaluation.summary import compared_pairs
    from judge_r1.judges.base import JudgeBuild
    from judge_r1.judges.panel import backends, loads_model, make_panel, parse_panel
    from judge_r1.judges.table3 import baseline_specs, with_table11
    from judge_r1.models.base import Sampling

    sent = JudgeBuild("", sampling=Sampling(temperature, seed), batch_size=batch_size, recipe=recipe)
    build = replace(sent, texts=loaded.texts, limits=loaded.limits)
    table = baseline_specs(baselines, examples, loaded.items, build) if baselines else []
    specs = [*table, *(with_table11(judge or ()) if table11 else judge or ())]
    panels = [parse_panel(spec) for spec in specs]
    if len({panel.name for panel in panels}) < len(panels):
        raise JudgeError("two judges have the same name: name each of them, as in --judge NAME=agentic@MODEL")
    check_spelling((panel.name for panel in panels), "judges")
    differences = compared_pairs([panel.name for panel in panels], reference or (panels[0].name if table else None))
    if not any(map(backends, specs)):
        refuse("is for judges with a model, and no judge has one", **of_models)
    make = RayEvaluation(selection, sent, on_ray).panel if on_ray else partial(make_panel, build=build)
    more: Any = {"unanswered": unanswered, "inspect_logs": inspect_logs}
    with Evaluation(loaded, out, resume=resume, name=benchmark, subset=subset, **more) as evaluation:
        evaluation.check_stored([panel.name for panel in panels])
        # The first judge is checked when it runs. Weights are not loaded twice, so a local judge waits for its turn.
        for panel, spec in list(zip(panels, specs, strict=True))[1:] if not on_ray else ():
            if not any(map(loads_model, panel.members)):
                evaluation.check_judges(make(spec))
        for spec in specs:
            evaluation.run(partial(make, spec))
        # A judge without a result has no row: its neighbours are compared, unless there is a reference.
        evaluation.finish(differences if reference or table else compared_pairs(evaluation.panels))
    if omitted := [name for name in read_started(out) if name not in evaluation.panels]:
        Console(stderr=True).print(
            f"note: {out} also holds {', '.join(omitted)}, which this summary omits: add their --judge and "
            "--resume to include them",
            soft_wrap=True,
            markup=False,
        )


def _named_file(text: str) -> tuple[str | None, Path]:
    """NAME=FILE, or FILE. A path that exists is no NAME=FILE."""
    name, equals, file = text.partition("=")
    return (name, Path(file)) if equals and "/" not in name and not Path(text).exists() else (None, Path(text))
