"""audit: probe pairs for shortcuts, draw pairs for readers, and have people annotate them."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from typer.core import TyperGroup

from judge_r1.cli.options import MAX_SEED, locks_out, refuse
from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted

if TYPE_CHECKING:
    from data_builders.audit.annotation.agreement import Agreement
    from data_builders.audit.annotation.form import Task
    from judge_r1.core.records import ReasoningPair

LANGUAGE_MODEL, READ_PAIRS = "bundled:smollm2-135m", 100
PER_PRINCIPLE, PAIRS = 20, 120
"""Default sizes of a sample; 120 pairs as in RankJudge, section 3.3."""
Folder = Annotated[Path, typer.Argument(help="A folder with cases.jsonl and pairs.jsonl, or one of conversations.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder to write to; by default that of the pairs.")]
Answers = Annotated[Path | None, typer.Option(help="The answers; by default answers.jsonl beside the pairs.")]
SheetAnswers = Annotated[
    list[Path] | None,
    typer.Option(
        help="The answers; by default answers.jsonl beside the pairs. For a sheet or conversations: any number of "
        "files, of a sheet also filled-in copies of sheet.jsonl. The file's name names the reader."
    ),
]


class _PathFirst(TyperGroup):
    """`audit PATH` is short for `audit shortcuts PATH`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["shortcuts", *args]
        return super().parse_args(ctx, args)


group = typer.Typer(cls=_PathFirst, no_args_is_help=True, rich_markup_mode="markdown")


def register(app: typer.Typer) -> None:
    app.add_typer(
        group,
        name="audit",
        help="Probe pairs for shortcuts, and have people annotate them. "
        "Example: `judge-r1 audit runs/medical` (short for `audit shortcuts`)",
    )


@group.command()
def shortcuts(
    folder: Folder,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the folds.")] = 0,
    out: Out = None,
    language_model: Annotated[
        str, typer.Option(help="A causal model that reads the texts: a folder, a hub name, bundled:NAME or none.")
    ] = LANGUAGE_MODEL,
    language_model_pairs: Annotated[
        int,
        typer.Option(
            min=1, help="Pairs of each principle that the language model reads; three times as many of P2 and P4."
        ),
    ] = READ_PAIRS,
) -> None:
    """Accuracy of rules, classifiers and a language model that never see the case. Flags what they detect. Beside it,
    the accuracy of a rule that looks up in the case the words that differ. Writes audit.json. Needs at least 10 cases;
    those of one article or paper count as one.

    A folder of conversations is probed by rules, classifiers and the benchmark's checks of form.

    The language model reads about one pair a second on a CPU; `--language-model none` leaves it out.

    Example: `judge-r1 audit shortcuts runs/medical`, for short `judge-r1 audit runs/medical`
    """
    from data_builders.audit.look_up import look_up_margins, look_up_results
    from data_builders.audit.shortcut_probe import with_groups_as_cases
    from data_builders.audit.shortcut_report import print_shortcuts
    from data_builders.audit.shortcuts import (
        AUDIT_FILE,
        CASE_DEPENDENT,
        as_json,
        audit_shortcuts,
        check_case_count,
        likelihood_sample,
    )
    from data_builders.text_units.likelihood import LikelihoodReader, pair_likelihoods
    from judge_r1.core.progress import show_progress
    from judge_r1.files.jsonl import write_json
    from judge_r1.files.pair_set import load_pairs
    from judge_r1.files.transcripts import is_conversations

    read_pairs = {"language_model_pairs": language_model_pairs != READ_PAIRS}
    if is_conversations(folder):
        by_model = {"language_model": language_model != LANGUAGE_MODEL, **read_pairs}
        refuse("is for pairs of reasonings, not for conversations", **by_model)
        _conversation_shortcuts(folder, out, seed)
        return
    if language_model == "none":
        refuse("is for a language model, and there is none", **read_pairs)
    data = load_pairs(folder)
    pairs, name, differences = with_groups_as_cases(data), None, {}
    check_case_count(pairs)  # before a model is loaded
    if language_model != "none":
        print(f"loading {language_model}", file=sys.stderr, flush=True)  # imports and weights take seconds
        name, reader = language_model, LikelihoodReader(language_model)
        sample = likelihood_sample(pairs, language_model_pairs, seed)

        def progress(cases: "Sequence[Sequence[ReasoningPair]]") -> "Iterator[Sequence[ReasoningPair]]":
            with show_progress(f"{name} reads cases", len(cases)) as one_done:
                for own in cases:
                    yield own
                    one_done()

        differences = pair_likelihoods(sample, reader, progress)
    found = look_up_results(pairs, look_up_margins(data), seed=seed)
    audit = audit_shortcuts(pairs, seed=seed, language_model=name, differences=differences, look_up=found)
    path = (out or folder) / AUDIT_FILE
    write_json(path, as_json(audit))
    print_shortcuts(audit, Console())
    unknown = [name for name in CASE_DEPENDENT if name in audit.not_probed]
    missing = f"; {' and '.join(unknown)} not probed" if unknown else ""
    flagged = dict.fromkeys(finding.result.group for finding in audit.flagged)
    groups = f"{len(flagged)} flagged ({', '.join(flagged)})" if flagged else "no group flagged"
    Console().print(f"{path}: {groups}{missing}", markup=False)


def _conversation_shortcuts(folder: Path, out: Path | None, seed: int) -> None:
    """The audit of a set of conversation pairs: no language model reads them."""
    from data_builders.audit.conversations import as_json, audit_conversations, print_audit
    from judge_r1.benchmarks.rankjudge import read_pairs
    from judge_r1.files.jsonl import write_json

    audit = audit_conversations(*read_pairs(folder), seed=seed)
    path = (out or folder) / "audit.json"
    write_json(path, as_json(audit))
    print_audit(audit, Console())
    Console().print(f"{path}: {len(audit.leaks)} flagged", markup=False)


@group.command()
@locks_out
def sample(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders with cases.jsonl and pairs.jsonl, or one of conversations.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder of the sheet.")],
    per_principle: Annotated[
        int | None, typer.Option(min=1, help=f"Pairs of each principle; {PER_PRINCIPLE} by default.")
    ] = None,
    pairs: Annotated[
        int | None,
        typer.Option(min=1, help=f"Pairs of a folder of conversations, or texts, drawn uniformly; {PAIRS} by default."),
    ] = None,
    checklists: Annotated[
        bool, typer.Option("--checklists", help="Draw texts of a checkout of HelloBench, with their checklists.")
    ] = False,
    subset: Annotated[
        str | None, typer.Option(help="With --checklists: whose texts, such as responses=FOLDER (docs/hellobench.md).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the sample.")] = 0,
) -> None:
    """Draw a sheet of pairs for readers.

    Readers say of each pair whether the named principle is violated and whether the flaw reads naturally. Writes the
    sampled cases and pairs, and sheet.jsonl to fill in.

    Of a folder of conversations it draws `--pairs` pairs, on whose labels people decide on the page of `audit serve`.
    With --checklists it draws `--pairs` texts, whose questions people answer there for `judge-r1 fit-weights`.

    Example: `judge-r1 audit sample runs/medical runs/legal --per-principle 20 --out runs/sheet`
    """
    from judge_r1.files.transcripts import is_conversations

    if checklists:
        from data_builders.audit.checklists import write_texts

        refuse("is for pairs of reasonings", per_principle=per_principle)
        if len(folders) > 1:
            raise JudgeError(f"texts are drawn from one checkout, not from {len(folders)}: draw from each alone")
        count = write_texts(folders[0], subset, out, pairs or PAIRS, seed)
        print(f"{out}: {counted(count, 'text')}; people answer on the page of judge-r1 audit serve {out}")
        return
    refuse("is for --checklists", subset=subset)
    if any(map(is_conversations, folders)):
        from data_builders.audit.conversation_labels import write_sample

        refuse("is for pairs of reasonings, and --pairs for conversations", per_principle=per_principle)
        if len(folders) > 1:
            raise JudgeError(f"conversations are sampled from one folder, not from {len(folders)}: sample each alone")
        count = write_sample(folders[0], out, pairs or PAIRS, seed)
        print(f"{out}: {counted(count, 'pair')}; label them with judge-r1 audit serve {out}")
        return
    from data_builders.audit.reading.sheet import write_sheet
    from judge_r1.labels.audit_answers import SHEET_FILE

    refuse(f"is for conversations, which {folders[0]} does not hold, and --per-principle for pairs", pairs=pairs)
    wanted = per_principle or PER_PRINCIPLE
    report = write_sheet(folders, out, per_principle=wanted, seed=seed)
    domains = sorted({domain for counts in report["by_principle"].values() for domain in counts})
    table, short = Table("principle", *domains, "pairs"), list[str]()
    for code, counts in report["by_principle"].items():
        drawn = sum(counts.values())
        table.add_row(code, *(str(counts.get(domain, 0)) for domain in domains), str(drawn))
        short += [f"{code} {drawn} of {wanted}"] if drawn < wanted else []
    Console().print(table)
    print(f"{out / SHEET_FILE}: {counted(report['pairs'], 'pair')}")
    if short:
        print(f"fewer pairs than asked for: {', '.join(short)}")


@group.command()
def serve(
    folder: Folder,
    answers: Answers = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
) -> None:
    """Open a local page where people choose the better reasoning of each pair in two rounds, without its label.

    For a reading sheet, the page shows the label and asks whether the flaw is real and natural. For a folder of
    conversations it asks whether side, round and type are right, and for texts the questions of their checklist.

    Example: `judge-r1 audit serve runs/medical-split/test`
    """
    from data_builders.audit.annotation.choices import ChoiceTask
    from data_builders.audit.annotation.site import AuditServer, open_site
    from data_builders.audit.checklists import TEXTS_FILE, ChecklistTask
    from data_builders.audit.conversation_labels import LabelTask
    from data_builders.audit.reading.results import ReadingTask
    from judge_r1.files.pair_set import load_pairs
    from judge_r1.files.transcripts import is_conversations, read_conversations
    from judge_r1.labels.audit_answers import ANSWERS_FILE, SHEET_FILE

    path = answers or folder / ANSWERS_FILE
    task: Task[Any]
    if is_conversations(folder):
        task = LabelTask(*read_conversations(folder))
    elif (folder / TEXTS_FILE).exists():
        task = ChecklistTask(folder)
    elif (folder / SHEET_FILE).exists():
        task = ReadingTask(load_pairs(folder))
    else:
        task = ChoiceTask(load_pairs(folder))
    site = open_site(task, path)
    with AuditServer(site, port) as server:
        if site.log.dropped:
            print(f"{path}: an incomplete last line was dropped; it had not been acknowledged")
        print(
            f"{counted(len(task.pair_ids), 'pair')}, {counted(len(site.log.answers), 'answer')} in {path}; Ctrl-C stops"
        )
        print(server.url, flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(f"\n{counted(len(site.log.answers), 'answer')} in {path}")


@group.command()
def report(
    folder: Folder,
    answers: SheetAnswers = None,
    out: Out = None,
    rating: Annotated[
        Path | None,
        typer.Option(help="Of conversations: the folder of `judge-r1 rate` on them. Adds the labels by difficulty."),
    ] = None,
) -> None:
    """Summarise the answers of annotators or of readers of a sheet.

    For annotations: alignment with the labels and Cohen's kappa by domain, after the first and after the second round.

    For a reading sheet: real and natural flaws by principle, and agreement of the readers. Writes reading.json, which
    the dataset card shows if it lies beside the pairs (`--out`).

    For conversations: the share of wrong labels by failure type, and with --rating by difficulty. Writes labels.json
    and refused.txt, which `judge-r1 rate --refused` leaves out.

    Example: `judge-r1 audit report runs/medical-split/test`

    Example: `judge-r1 audit report runs/sheet --answers ana.jsonl --answers ben.jsonl`
    """
    from judge_r1.files.transcripts import is_conversations
    from judge_r1.labels.audit_answers import ANSWERS_FILE, SHEET_FILE

    files = answers or [folder / ANSWERS_FILE]
    if is_conversations(folder):
        _report_labels(folder, files, out or folder, rating)
    elif rating:
        raise JudgeError(f"--rating is for labels of conversations, and {folder} holds none: leave it out")
    elif (folder / SHEET_FILE).exists():
        _report_sheet(folder, files, out or folder)
    elif out:
        raise JudgeError(f"--out is for sheets, and {folder} has no {SHEET_FILE}: leave it out")
    elif len(files) > 1:
        raise JudgeError(f"{folder} is no sheet (it has no {SHEET_FILE}): pass one file of answers")
    else:
        _report_annotations(folder, files[0])


def _report_labels(folder: Path, files: Sequence[Path], out: Path, rating: Path | None) -> None:
    from data_builders.audit.conversation_labels import REFUSED_FILE, print_labels, report_labels

    found = report_labels(folder, files, out, rating)
    print_labels(found, Console())
    print(f"{out / REFUSED_FILE}: {len(found['refused'])} of {counted(found['labelled'], 'labelled pair')} refused")


def _report_sheet(folder: Path, files: Sequence[Path], out: Path) -> None:
    from data_builders.audit.reading.results import READING_FILE, load_readings, print_reading, reading_report
    from judge_r1.files.jsonl import write_json

    found = reading_report(*load_readings(folder, files))
    write_json(out / READING_FILE, found)
    print_reading(found, Console())
    print(out / READING_FILE)


def _report_annotations(folder: Path, answers: Path) -> None:
    from data_builders.audit.annotation.agreement import agreement
    from data_builders.audit.annotation.choices import load_choices
    from judge_r1.evaluation.report.tables import few_clusters_note

    lines = agreement(*load_choices(folder, answers))
    table = Table("annotator", "domain", "pairs", "first round [95 %]", "κ", "second round [95 %]", "κ")
    last = ""
    for line in lines:
        if last and line.annotator != last:
            table.add_section()
        last = line.annotator
        done = f"{line.first.n if line.first else 0} of {line.pairs}"
        table.add_row(line.annotator, line.domain, done, *_cells(line.first), *_cells(line.second))
    Console().print(table)
    rounds = [line.first for line in lines if line.first]
    if note := few_clusters_note({"cases": found.cases} for found in rounds):
        Console().print(f"95 % intervals over cases.{note}", markup=False, highlight=False)


def _cells(agreement: "Agreement | None") -> tuple[str, str]:
    if agreement is None:
        return "not complete", ""
    from data_builders.audit.annotation.agreement import kappa_cell

    return str(agreement), kappa_cell(agreement.kappa)
