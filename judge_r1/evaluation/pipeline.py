"""Runs an evaluation from end to end: judges a benchmark with each panel, then writes the summary and the report.

with Evaluation(benchmark, Path("runs/eval"), resume=False) as evaluation:
    evaluation.run(lambda: make_panel("longer", build))
    summary = evaluation.finish(differences=[])
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from judge_r1.benchmarks.base import IN_PATH, LoadedBenchmark
from judge_r1.core.endpoint import EndpointError
from judge_r1.core.errors import JudgeError
from judge_r1.episode.config import EpisodeConfig
from judge_r1.evaluation.folder import REPORT, read_started
from judge_r1.evaluation.pins import pinned
from judge_r1.evaluation.published_outputs import score_predictions
from judge_r1.evaluation.results import PanelResults, outcome_lines
from judge_r1.evaluation.rule_rows import rule_rows
from judge_r1.evaluation.runner import check_stored, evaluate, judge_names, panel_settings
from judge_r1.evaluation.summary import EXCLUDED, Unanswered, add_systems, summarize, what_it_says, with_baselines
from judge_r1.evaluation.vote_failures import NoAnswers, VotesMissing, invalid_warning
from judge_r1.evaluation.votes import EvaluationError, StoredVotes
from judge_r1.files.digests import LinesDigest
from judge_r1.files.evaluation_files import OUTCOMES, ROWS, SUMMARY, digested
from judge_r1.files.file_lock import lock_folder
from judge_r1.files.jsonl import AtomicFiles, dump_json, write_jsonl
from judge_r1.files.partial_files import file_names
from judge_r1.judges.agentic import AgenticJudge
from judge_r1.judges.base import JudgeBuild, close_all
from judge_r1.judges.panel import JudgePanel
from judge_r1.models.base import Sampling

JUDGEMENTS = "judgements"
"""The folder of the results in the benchmark's own format."""


class Evaluation:
    """Evaluates panels one after the other on the same items and summarizes them together.

    As a context manager it locks `out`, so that no other process writes there.
    `name` and `subset` are those of the benchmark, as the summary reports them. `unanswered` says how items count that
    the server did not answer (`ItemResult.answered`). `inspect_logs` adds a log of Inspect for each panel.
    """

    def __init__(
        self,
        benchmark: LoadedBenchmark,
        out: Path,
        *,
        resume: bool,
        name: str = "lrbench",
        subset: str | None = None,
        unanswered: Unanswered = EXCLUDED,
        inspect_logs: bool = False,
    ) -> None:
        if inspect_logs:
            from judge_r1.evaluation.inspect_writer import check_inspect

            check_inspect()
        self.inspect_logs = inspect_logs
        self.benchmark, self.out, self.resume = benchmark, out, resume
        self.name, self.subset, self.unanswered = name, subset, unanswered
        self.errors: list[JudgeError] = []
        """Of panels that stopped or lack votes."""
        self.results: dict[str, PanelResults] = {}
        self.settings: dict[str, dict[str, Any]] = {}
        self.judges: dict[str, str] = {}
        self.seconds: dict[str, float] = {}

    def __enter__(self) -> "Evaluation":
        self._lock = lock_folder(self.out)
        self._lock.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._lock.__exit__(*error)

    @property
    def panels(self) -> list[str]:
        """The names of the panels evaluated so far."""
        return list(self.results)

    def check_stored(self, panels: Sequence[str]) -> None:
        """Checks before the first request that the folder can take all these panels, so that no judge is paid for in
        vain. Raises: EvaluationError."""
        check_stored(panels, self.benchmark, out=self.out, resume=self.resume)

    def check_judges(self, panel: JudgePanel) -> None:
        """Checks that judges can answer the items, so that the others are not paid for in vain. Raises: BadJudge."""
        requests = self.benchmark.requests(orders=panel.orders, samples=panel.samples)
        for judge in panel.members:
            judge.check(requests)
            close_all(judge)

    def add_agentic(self, panel: str, model: str, config: EpisodeConfig, sampling: Sampling, batch_size: int) -> None:
        """Evaluates one agentic judge under the name `panel`."""
        build = JudgeBuild(model, texts=self.benchmark.texts, sampling=sampling, batch_size=batch_size)
        self.run(lambda: JudgePanel(panel, (AgenticJudge(build, config),)))

    def run(self, make_panel: Callable[[], JudgePanel]) -> None:
        """Builds a panel and evaluates it. The panel is released afterwards, so its models do not stay in memory.

        A panel whose server fails does not stop the others: `finish` raises its error, after the summary is written.
        """
        started = time.monotonic()
        panel = make_panel()
        try:
            self.results[panel.name] = evaluate(panel, self.benchmark, out=self.out, resume=self.resume)
        except (EndpointError, NoAnswers, VotesMissing) as error:
            self.errors.append(error)
            # Of a panel that lacks votes, the complete items are a result. Without one there is no row to show.
            if not isinstance(error, VotesMissing) or not error.results.items:
                return
            self.results[panel.name] = error.results
        self.settings[panel.name] = panel_settings(panel)
        self.judges[panel.name] = judge_names(panel)
        self.seconds[panel.name] = round(time.monotonic() - started, 1)

    def finish(
        self,
        differences: Sequence[tuple[str, str]],
        metrics: Mapping[str, Any] | None = None,
        *,
        brief: bool = False,
        silent: bool = False,
        title: str | None = None,
        opens: str | None = None,
    ) -> dict[str, Any]:
        """Writes outcomes.jsonl, report.html and summary.json together, prints the tables and returns the summary.

        `differences` are the pairs of panels to compare; `metrics` are training curves for the report, by run. `title`
        is that of the report, and `opens` the panel whose episodes it shows first (default: the first one). `brief`
        prints a narrow table, without the warnings of invalid answers, and `silent` nothing. Panels without a result
        have no row.

        Raises:
            JudgeError: A panel stopped or lacks votes. The files hold the results of the others.
        """
        if self.errors and not self.results:
            raise self.errors[0]
        judged = {name: results.items for name, results in self.results.items()}
        own, settings = with_baselines(self.benchmark, judged, self.settings)
        # Rows of the summary alone: who reads outcomes looks for judges.
        rules = rule_rows(self.benchmark, self.out, own.keys())
        panels, settings = {**own, **rules}, {**settings, **{name: {"baseline": True} for name in rules}}
        summary = {
            "benchmark": self.name,
            **summarize(
                panels,
                [] if self.benchmark.rates_texts else [pair for pair in differences if set(pair) <= panels.keys()],
                self.seconds,
                settings,
                self.benchmark.metrics,
                self.benchmark.counts,
                self.benchmark.tables,
                self.benchmark.joint_tables,
                items=len(self.benchmark.items),
                unanswered=self.unanswered,
            ),
            "unanswered": self.unanswered,
            "subset": self.subset,
            **what_it_says(self.benchmark),
            **pinned(self.benchmark.pins, self.judges, self.settings),
        }
        add_systems(summary["rows"], self.benchmark, panels)
        for row in summary["rows"]:
            if (found := self.results.get(row["name"])) is None:
                continue
            usage = found.usage
            more = {"usage": usage.counts, "replies": usage.replies, "cut_prompts": usage.cut_items}
            row |= {name: value for name, value in {**more, "warnings": usage.warnings()}.items() if value}
        outcomes = (line for results in own.values() for line in outcome_lines(results))
        folders = file_names(judged)
        # These and the logs come before the summary, which marks the evaluation as finished.
        for name, items in judged.items():
            for file, rows in self.benchmark.published(items).items():
                write_jsonl(self.out / JUDGEMENTS / folders[name] / file, map(dict, rows))
        if self.inspect_logs:
            from judge_r1.evaluation.inspect_writer import write_logs

            write_logs(self.out, self.results, summary, self.settings)
        _publish(
            self.out,
            summary,
            self.name,
            metrics or {},
            list(self.results.values()),
            outcomes,
            brief=brief,
            silent=silent,
            title=title,
            opens=opens,
        )
        if self.errors:
            raise _together(self.errors)
        return summary


def _together(errors: Sequence[JudgeError]) -> JudgeError:
    if len(errors) == 1:
        return errors[0]
    both = EvaluationError("; ".join(map(str, errors)))
    both.exit_status = errors[0].exit_status  # a scheduler repeats a run that may succeed the next time
    return both


def evaluate_predictions(
    name: str,
    path: Path,
    predictions: Sequence[Path],
    subset: str | None,
    out: Path,
    names: Sequence[str | None] = (),
    reference: str | None = None,
) -> None:
    """Scores outputs in the benchmark's published format, without a judge, into a folder that holds no evaluation.
    `names` holds the names of the files, None for that of a file itself; `reference` names the one to compare with."""
    if (out / ROWS).exists():
        raise JudgeError(f"{out} already holds an evaluation: choose another --out")
    with lock_folder(out):
        summary = score_predictions(name, path, predictions, subset, names, reference)
        _publish(out, summary, name)
    for row in summary["rows"]:
        if (known := row["extra"].get(IN_PATH)) is not None:
            Console(stderr=True).print(
                f"note: {path} holds {round(known * row['n'])} of the {row['n']} items of {row['name']}; the labels of "
                "the others are those of its own file",
                soft_wrap=True, markup=False, highlight=False,
            )  # fmt: skip


def _publish(
    out: Path,
    summary: dict[str, Any],
    benchmark: str,
    metrics: Mapping[str, Any] | None = None,
    results: Sequence[PanelResults] = (),
    outcomes: Iterable[str] | None = None,
    *,
    brief: bool = False,
    silent: bool = False,
    title: str | None = None,
    opens: str | None = None,
) -> None:
    """Writes all files or none, summary.json last: a folder with a summary is a finished evaluation."""
    from judge_r1.evaluation.report.page import report_page  # imported late: the page needs jinja2
    from judge_r1.evaluation.report.tables import print_tables

    page = report_page(out, summary, metrics or {}, results, title=title or f"Judges on {benchmark}", opens=opens)
    digest = None if outcomes is None else LinesDigest()
    with AtomicFiles(*([] if digest is None else [out / OUTCOMES]), out / REPORT, out / SUMMARY) as files:
        for line in outcomes or ():
            files.write(out / OUTCOMES, line)
            if digest:
                digest.add(line.encode())
        for part in page:
            files.write(out / REPORT, part)
        votes = {found.panel: found.votes.digest.text for found in results if isinstance(found.votes, StoredVotes)}
        rows = {name: entry for name, entry in (read_started(out) if votes else {}).items() if name in votes}
        files.write(out / SUMMARY, dump_json(digested(summary, digest, rows, votes)))
    console = Console(quiet=silent)
    doubts = [f"warning: {found.panel}: {warning}" for found in results for warning in found.usage.warnings()]
    for warning in (*doubts, *filter(None, map(invalid_warning, () if brief else results))):
        console.print(warning + "\n", soft_wrap=True, markup=False, highlight=False)
    for note in summary.get("notes", ()):
        console.print(f"note: {note}\n", soft_wrap=True, markup=False, highlight=False)
    print_tables(summary, console, brief=brief)
    console.print(f"report: {out / REPORT}")
