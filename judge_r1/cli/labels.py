"""labels: check a judge on people's labels, pin the result, and keep watch over it."""

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from judge_r1.cli.options import MAX_SEED, Prices, refuse
from judge_r1.core.errors import ExitStatus, JudgeError
from judge_r1.core.text_check import counted

if TYPE_CHECKING:
    from judge_r1.labels.check import CheckedJudge, CheckResult
    from judge_r1.labels.pipeline import Prices as PricesByModel
    from judge_r1.labels.rows import Labels

group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
LabelFile = Annotated[Path, typer.Argument(help="People's labels: CSV, JSON, JSON Lines, parquet, or a tool's export.")]
Columns = Annotated[
    str | None, typer.Option(metavar="OURS=YOURS,…", help="Columns that are not found by name, as label=my_column.")
]
Question = Annotated[str | None, typer.Option(help="The question of an export that has several.")]
Kind = Annotated[
    Literal["binary", "nominal", "ordinal", "numeric", "pairwise"] | None,
    typer.Option(help="The kind of the labels [default: found from the file]."),
]
Positive = Annotated[str | None, typer.Option(metavar="WORD", help="The good one of two words.")]
Scale = Annotated[str | None, typer.Option(metavar="LOW-HIGH", help="The scale of whole numbers, such as 1-5.")]
Require = Annotated[
    list[str] | None, typer.Option(metavar="MEASURE>=NUMBER", help="Such as recall[fail]>=0.9; may be repeated.")
]
Orders = Annotated[
    int, typer.Option(min=1, max=2, help="Ask about a pair in both orders (2), or as the file has it (1).")
]
Verdicts = Annotated[str | None, typer.Option(metavar="COLUMN", help="A column with a judge's verdicts: ask no model.")]
Resume = Annotated[bool, typer.Option("--resume", help="Ask only what OUT lacks.")]
ResultFolder = Annotated[Path, typer.Argument(help="The folder of `labels check`.")]
JudgeName = Annotated[str | None, typer.Option("--judge", help="The judge of the result; needed if there are several.")]
Temperature = Annotated[float, typer.Option(min=0, help="Sampling temperature; 0 is greedy decoding.")]
BatchSize = Annotated[int, typer.Option(min=1, help="Number of requests at once.")]
Split = Annotated[Literal["test", "dev"], typer.Option(help="Choose a prompt on dev, decide on test.")]


def register(app: typer.Typer) -> None:
    app.add_typer(
        group, name="labels",
        help="Check a judge on people's labels: can it be trusted, and does it stay so? "
        "Example: `judge-r1 labels check my.csv --judge direct@https://host/v1#model --out runs/labels`",
    )  # fmt: skip


@group.command()
def check(
    file: LabelFile,
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write; needed unless --dry-run.")] = None,
    judge: Annotated[list[str] | None, typer.Option(metavar="SPEC", help="As for `eval`; may be repeated.")] = None,
    verdicts: Verdicts = None,
    columns: Columns = None,
    question: Question = None,
    kind: Kind = None,
    positive: Positive = None,
    scale: Scale = None,
    require: Require = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Ask each question N times [default: 3, 1 from 300 items].")
    ] = None,
    orders: Orders = 2,
    adjudicated: Annotated[str | None, typer.Option(metavar="NAME", help="The person whose labels win.")] = None,
    each: Annotated[bool, typer.Option("--each", help="Compare with each person, not with what most say.")] = False,
    split: Split = "test",
    epsilon: Annotated[
        float, typer.Option(min=0, max=1, help="The alt-test's ε: .2 expert, .15 skilled, .1 crowd.")
    ] = 0.15,
    margin: Annotated[
        float, typer.Option(min=0, max=1, help="How much worse than a person a judge may be: `people >= -margin`.")
    ] = 0.1,
    pool: Annotated[
        bool, typer.Option("--pool", help="Also ask about items without a label, for estimate and next.")
    ] = False,
    temperature: Temperature = 0.0,
    seed: Annotated[int, typer.Option(help="Sampling seed.")] = 0,
    batch_size: BatchSize = 32,
    allow_leak: Annotated[bool, typer.Option("--allow-leak", help="Go on although the prompt shows labels.")] = False,
    prices: Prices = None,
    drop_leaked: Annotated[bool, typer.Option("--drop-leaked", help="Leave out items that the prompt shows.")] = False,
    resume: Resume = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what is understood and what it would ask.")] = False,
) -> None:
    """Check judges on people's labels: trusted, not trusted, or undecided. Writes OUT/labels.json and report.html.

    A row is one label of one person for one item; columns are found by their usual names (docs/labels.md). A judge with
    your own prompt is `prompt:file=FILE,answers=pass/fail@URL#MODEL`; other judges get a plain question.

    Example: `judge-r1 labels check my.csv --judge "prompt:file=helpful.txt,answers=pass/fail@https://host/v1#model"
    --out runs/labels`
    """
    from judge_r1.labels.check import Options, check_requirements
    from judge_r1.labels.decision import parse_requirement
    from judge_r1.labels.leaks import without_leaks
    from judge_r1.labels.output import lines_of
    from judge_r1.labels.pipeline import Asking, checked, plan

    if (judge and verdicts is not None) or not (judge or verdicts or dry_run):
        raise JudgeError("give --judge SPEC to ask a judge, or --verdicts COLUMN for verdicts in the file, not both")
    if each and adjudicated is not None:
        raise JudgeError("give --each or --adjudicated, not both")
    if verdicts is not None:
        refuse("is for a judge that is asked", repeats=repeats, pool=pool, resume=resume, temperature=temperature)
    labels = _read(file, columns, question, kind, positive, scale, verdicts)
    requirements = [parse_requirement(text) for text in require or ()]
    if split == "dev" or any(item.split == "dev" for item in labels.items):
        labels = labels.of_split(split)
    labels = without_leaks(labels, judge or (), allow=allow_leak, drop=drop_leaked)
    asking = Asking(
        repeats=repeats, orders=orders, temperature=temperature, seed=seed, batch_size=batch_size, pool=pool,
        resume=resume,
    )  # fmt: skip
    options = Options(adjudicator=adjudicated, each=each, split=split, margin=margin, epsilon=epsilon)
    check_requirements(labels, requirements, options)
    if dry_run:
        for line in plan(labels, judge or (), asking, requirements):
            typer.echo(line)
        return
    if out is None:
        raise JudgeError("give --out FOLDER")
    result = checked(labels, judge or (), out, asking, requirements, options, _prices(prices))
    for line in lines_of(result):
        typer.echo(line)
    typer.echo(f"report: {out / 'report.html'}")
    if any(one.unanswered for one in result.judges):
        typer.echo("warning: some items have no reply: run again with --resume", err=True)
        raise typer.Exit(ExitStatus.TRY_AGAIN)


def _prices(file: Path | None) -> "PricesByModel | None":
    from data_builders.teachers.answer_cache import Tokens
    from data_builders.teachers.budget import Price, load_prices

    def of(price: Price) -> Callable[[int, int], float]:
        return lambda read, written: price.of(Tokens(1, read, written))

    return None if file is None else {model: of(price) for model, price in load_prices(file).items()}


def _read(
    file: Path, columns: str | None, question: str | None, kind: Kind, positive: str | None, scale: str | None,
    verdicts: str | None,
) -> "Labels":  # fmt: skip
    from judge_r1.labels.rows import read_labels

    named = dict(_pair(text, "--columns") for text in (columns or "").split(",") if text)
    if verdicts is not None:
        named["verdict"] = verdicts
    bounds = None
    if scale is not None:
        low, dash, high = scale.partition("-")
        if not (dash and low.isdecimal() and high.isdecimal() and int(low) < int(high)):
            raise JudgeError(f"--scale {scale!r} must read LOW-HIGH, such as 1-5")
        bounds = int(low), int(high)
    return read_labels(file, columns=named, question=question, kind=kind, positive=positive, scale=bounds)


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise JudgeError(f"{option} {text!r} must read OURS=YOURS, such as label=my_column")
    return name, value


@group.command()
def pin(
    folder: ResultFolder,
    out: Annotated[Path, typer.Option("--out", help="The gate file to write.")],
    judge: JudgeName = None,
    allow_undecided: Annotated[
        bool, typer.Option("--allow-undecided", help="Pin a judge that is not trusted; its gate never passes.")
    ] = False,
    no_verdicts: Annotated[
        bool, typer.Option("--no-verdicts", help="Leave the verdicts out: no drift by item.")
    ] = False,
) -> None:
    """Write the gate file of a checked judge: hashes, settings, verdicts and measures, no texts.

    Example: `judge-r1 labels pin runs/labels --out judge.gate.json`
    """
    from judge_r1.labels.gate import looks_beside, read_result, write_gate
    from judge_r1.labels.gate import pin as pinned

    result = read_result(folder)
    looks = looks_beside(folder, result)
    gate = pinned(result, judge, looks=looks, allow_undecided=allow_undecided, verdicts=not no_verdicts)
    write_gate(out, gate)
    if looks > 1:
        typer.echo(f"note: {looks} judges were measured on these labels: the number of the best one is optimistic")
    typer.echo(f"gate: {out} ({gate.judge.decision.word}, {counted(len(gate.gold), 'item')})")


@group.command()
def gate(
    file: Annotated[Path, typer.Argument(metavar="GATE", help="The file that `labels pin` wrote.")],
    labels: Annotated[Path, typer.Option("--labels", help="The labels.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for answers and report [default: a new one beside GATE].")
    ] = None,
    judge: Annotated[str | None, typer.Option(metavar="SPEC", help="The judge now [default: the pinned one].")] = None,
    verdicts: Verdicts = None,
    columns: Columns = None,
    question: Question = None,
    positive: Positive = None,
    scale: Scale = None,
    repeats: Annotated[int, typer.Option(min=1, help="Ask each question N times.")] = 1,
    accept: Annotated[
        list[str] | None, typer.Option(metavar="labels|judge|model", help="A change that is meant; may be repeated.")
    ] = None,
    alpha: Annotated[
        float, typer.Option(min=0.0001, max=0.5, help="Level of the test for drift; .01 for nightly runs.")
    ] = 0.05,
    max_drop: Annotated[float | None, typer.Option(min=0, max=1, help="Fail unless a larger drop is excluded.")] = None,
    undecided: Annotated[
        Literal["pass", "fail"], typer.Option(help="pass: end with 0 where the gate is undecided, not with 3.")
    ] = "fail",
    markdown: Annotated[Path | None, typer.Option(help="Write a summary for a pull request.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit's XML.")] = None,
    batch_size: BatchSize = 32,
    resume: Resume = False,
) -> None:
    """Judge the labels again and compare with the pinned result. Exit status: 0 pass, 1 fail, 2 wrong input,
    3 undecided, 75 the judge could not be asked.

    Example: `judge-r1 labels gate judge.gate.json --labels my.csv --markdown summary.md --junit gate.xml`
    """
    from judge_r1.core.endpoint import EndpointError
    from judge_r1.evaluation.vote_failures import NoAnswers
    from judge_r1.files.jsonl import write_atomic, write_json
    from judge_r1.labels import gate as gates
    from judge_r1.labels.pipeline import Asking, checked

    pinned = gates.read_gate(file)
    if unknown := set(accept or ()) - set(gates.ACCEPTED):
        raise JudgeError(f"--accept {min(unknown)}: it is {', '.join(gates.ACCEPTED)}")
    if verdicts is None and judge is None and not pinned.judge.settings:
        raise JudgeError(f"{file} pins verdicts of a file, not a judge to ask: give --verdicts COLUMN")
    kind, answers = pinned.labels.kind, pinned.labels.answers
    first = answers[0] if kind == "binary" else None
    bounds = f"{answers[0]}-{answers[-1]}" if kind == "ordinal" else None
    read = _read(labels, columns, question, kind, positive or first, scale or bounds, verdicts)
    if pinned.options.split == "dev" or any(item.split == "dev" for item in read.items):
        read = read.of_split(pinned.options.split)
    folder = out or file.with_suffix("") / datetime.now(timezone.utc).strftime("%Y-%m-%dT%H-%M-%S")
    asking = Asking(repeats=repeats, batch_size=batch_size, resume=resume, **pinned.asked)
    specs = [judge or pinned.judge.asked["spec"]] if verdicts is None else []
    try:
        result = checked(read, specs, folder, asking, pinned.require, pinned.options)
    except (EndpointError, NoAnswers) as error:  # a gate that could not ask may pass the next time
        error.exit_status = ExitStatus.TRY_AGAIN
        raise
    compared = gates.compare(pinned, result, accept=accept or (), alpha=alpha, max_drop=max_drop)
    write_json(folder / "gate.json", compared.model_dump(mode="json"))
    if markdown is not None:
        write_atomic(markdown, [gates.markdown_of(compared, result.judges[0])])
    if junit is not None:
        write_atomic(junit, [gates.junit_of(compared, result.judges[0])])
    for line in gates.lines_of(compared):
        typer.echo(line)
    status = gates.STATUSES[compared.status]
    raise typer.Exit(0 if compared.status == "undecided" and undecided == "pass" else status)


@group.command()
def estimate(
    folder: ResultFolder,
    drawn: Annotated[
        Literal["random", "by-label", "by-verdict"],
        typer.Option(
            help="How the labelled items were drawn. random: a random sample of the pool; by-label: balanced on "
            "purpose; by-verdict: as `next` draws them."
        ),
    ],
    pool: Annotated[
        Path | None, typer.Option(help="Items with id and verdict [default: those of `check --pool`].")
    ] = None,
    judge: JudgeName = None,
    out: Annotated[Path | None, typer.Option("--out", help="JSON file to write.")] = None,
) -> None:
    """Estimate the share of good items in a pool from a judge's verdicts, corrected by people's labels.

    Example: `judge-r1 labels estimate runs/labels --pool pool.jsonl --drawn random`
    """
    from judge_r1.files.jsonl import write_json
    from judge_r1.labels.pool import estimate as estimated

    result, chosen, verdicts = _chosen(folder, judge, pool)
    found = estimated(result, chosen, verdicts, drawn)
    for name, value in found.items():
        if isinstance(value, dict) and "ci95" in value:
            low, high = value["ci95"]
            note = f"  ({value['note']})" if "note" in value else ""
            typer.echo(f"{name}: {value['value']:.3f} [{low:.3f}, {high:.3f}]{note}")
        elif isinstance(value, dict):
            typer.echo(f"{name}: " + ", ".join(f"{key} {number:.3f}" for key, number in value.items()))
        else:
            typer.echo(f"{name}: {value:.3f}" if isinstance(value, float) else f"{name}: {value}")
    if out is not None:
        write_json(out, found)


@group.command(name="next")
def next_(
    folder: ResultFolder,
    out: Annotated[Path, typer.Option("--out", help="CSV file to write.")],
    for_: Annotated[
        Literal["gate", "prompt"],
        typer.Option("--for", help="gate: random within verdicts; prompt: where the judge is unsure, for dev."),
    ] = "gate",
    pool: Annotated[
        Path | None, typer.Option(help="Items with id and verdict [default: those of `check --pool`].")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="How many items.")] = 20,
    judge: JudgeName = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the draw.")] = 0,
) -> None:
    """Choose the items that people should label next.

    Example: `judge-r1 labels next runs/labels --pool pool.jsonl --count 20 --out next.csv`
    """
    import csv
    import io

    from judge_r1.files.jsonl import write_atomic
    from judge_r1.labels.pool import next_for_gate, next_for_prompt

    result, chosen, verdicts = _chosen(folder, judge, pool)
    if for_ == "gate":
        found = next_for_gate(result, chosen, verdicts, count, seed)
    else:
        found = next_for_prompt(result, chosen, verdicts, count)
    if not found:
        raise JudgeError("no item of the pool is unsure: check with --pool and --repeats 3, or take --for gate")
    table = io.StringIO()
    lines = csv.DictWriter(table, list(found[0]), lineterminator="\n")
    lines.writeheader()
    lines.writerows(found)
    write_atomic(out, [table.getvalue()])
    typer.echo(f"{out}: {counted(len(found), 'item')} to label")


def _chosen(folder: Path, name: str | None, pool: Path | None) -> tuple["CheckResult", "CheckedJudge", dict[str, str]]:
    from judge_r1.labels.gate import judge_of, read_result
    from judge_r1.labels.kinds import BadLabels
    from judge_r1.labels.pool import read_pool

    result = read_result(folder)
    judge = judge_of(result, name)
    if pool is not None:
        return result, judge, read_pool(pool, result)
    verdicts = {i: v for i, v in judge.verdicts.items() if v is not None and i not in result.gold}
    if not verdicts:
        raise BadLabels(f"{folder} has verdicts on labelled items alone: give --pool FILE, or check with --pool")
    return result, judge, verdicts
