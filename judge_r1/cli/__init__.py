"""The `judge-r1` command. Each module has a function of its name that parses one command, calls a pipeline and prints
the result, or a function `register`.

A command is imported when it is called, so that `--help` and errors of usage need no library of another command.
"""

import gc
from collections.abc import Iterator, Mapping
from copy import copy
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from judge_r1.cli.failures import Commands, check_values, describe_statuses, log_thread_failures

PANELS: Mapping[str, Mapping[str, str]] = {
    "split": {
        "Nested training sets": "sizes test dev",
        "Prompt lengths": "recipe model max_prompt_tokens",
    },
    "train": {"Machines": "processes nodes gpus_per_node gpu"},
    "generate": {"Sampling": "max_tokens temperature seed batch_size"},
    "eval": {
        "Comparisons": "baselines examples table11 predictions",
        "Sampling": "temperature seed batch_size",
        "Running": "engine workers resume unanswered",
    },
    "rate": {
        "Votes that count": "on_invalid criterion partial top refused",
        "Fit": "anchor scale prior repeats seed",
        "Comparisons": "compare without repo_compat published",
    },
    "serve": {
        "Access and traces": "keys traces",
        "Limits": "max_concurrency queue_size timeout body_mib case_mib cases_mib max_batch_size group_timeout "
        "max_connections max_connections_per_client drain_timeout",
    },
}
"""Command -> panel -> the names of its options."""


def group_options(name: str, command: Any) -> None:
    """Put the options of a command into its panels."""
    options = {option.name: option for option in command.params}
    for panel, names in PANELS.get(name, {}).items():
        for option in names.split():
            options[option].rich_help_panel = panel


COMMANDS = {
    "demo": "Build pairs, warm up, train with search in the loop, evaluate on held-out cases, write a report.",
    "build": "Insert flaws into reference reasonings and write labelled pairs.",
    "validate": "Check a built folder, and say what was checked; exit status 1 if it fails.",
    "split": "Split pairs by case, never by pair, into OUT/train and OUT/test, or, with --sizes, into nested training "
    "sets and a balanced test set as LRBench has them.",
    "select": "Write the pairs of a band of difficulty, or those that a look-up rule misses.",
    "audit": "Probe pairs for shortcuts, and have people annotate them.",
    "stats": "Prompt and context lengths, A/B and principle balance by domain, and the LRBench paper's Table 1 and "
    "Figure 3 with this set.",
    "rationales": "Have a teacher write full rationales for gold judgments; `train` reads them with "
    "`sft.rationales_file`.",
    "export": "Write pairs for LLaMA-Factory (sft, dpo), TRL (trl) or verl, with a dataset card; `datasets` loads the "
    "folder.",
    "train": "Train a judge, and first the recipes that it starts from, each in its own run folder.",
    "launch": "Train a recipe on a cluster: Ray, Slurm, KubeRay or SkyPilot.",
    "merge": "Write a checkpoint of a run as a Hugging Face folder with a model card.",
    "generate": "Generate responses to a benchmark's instructions.",
    "eval": "Evaluate judges on a benchmark and write summary.json, outcomes.jsonl, votes.jsonl and report.html to "
    "OUT.",
    "benchmarks": "List the benchmarks of `eval`: what each measures, the files at --path, and its subsets.",
    "fit-weights": "Fit the weights of each category's checklist to human scores (HelloEval): bounded least squares, "
    "intervals, rank.",
    "labels": "Check a judge on people's labels: can it be trusted, and does it stay so?",
    "agreement": "Count people's answers to one question about many texts: means with intervals, and the agreement of "
    "people.",
    "attack": "Attack a judge: judge pairs as they are and with text that argues for the worse candidate.",
    "judge": "Judge the trace of an agent: a question, a rubric, or which of two traces is better.",
    "replay": "Score saved outputs again with another parser, aggregation or reward.",
    "calibrate": "Fit calibration maps on answers with known gold labels.",
    "analyse": "Analyses behind an accuracy: attention, reasoning, bias, errors, radar.",
    "report": "Compare evaluations and training runs on one static page.",
    "rate": "Rate judges and items from the votes of any benchmark: Elo with 95 % intervals, difficulty, curation.",
    "serve": "Serve a judge over HTTP: `POST /v1/judge`; `/docs` shows the whole API.",
    "keys": "API keys of a served judge.",
    "search": "Search one case, as a judge would.",
    "index": "Embed the cases of a folder once.",
    "doctor": "Show package versions, missing requirements of each extra, and devices.",
}
"""The commands by area, each with the first sentence of its help. `fit-weights` is in fit_weights.py."""


class _Imported(Mapping[str, Any]):
    """The commands of Click by name, each imported at its first use."""

    def __init__(self) -> None:
        self._imported: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in COMMANDS:
            raise KeyError(name)
        if name not in self._imported:
            one = typer.Typer(add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False)
            module = import_module(f"judge_r1.cli.{(own := name.replace('-', '_'))}")
            if register := getattr(module, "register", None):  # a group, or a command with settings of its own
                register(one)
            else:
                one.command(name)(getattr(module, own))
            self._imported[name] = command = get_group(one).commands[name]
            check_values(command)
            group_options(name, command)
        return self._imported[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _JudgeR1(Commands):
    """The commands of `COMMANDS`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands: Any = _Imported()

    def format_help(self, ctx: Any, formatter: Any) -> None:
        listing = copy(self)
        listing.commands = {name: TyperCommand(name, help=line) for name, line in COMMANDS.items()}
        TyperGroup.format_help(listing, ctx, formatter)


app = typer.Typer(
    name="judge-r1",
    cls=_JudgeR1,
    help="Train, evaluate and serve agentic judges of long-context reasoning.",
    epilog=f"Exit status: {describe_statuses()}",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.callback()(lambda: None)


def main() -> None:
    """Runs a command. `Commands` turns its errors into a sentence and an exit status."""
    # By default, a fifteenth of the time of a short command goes to collections while it imports modules.
    gc.set_threshold(20_000, 10, 10)
    log_thread_failures()
    app()


if __name__ == "__main__":
    main()
