"""Loads HelloBench (arXiv 2409.16191): long texts, scored by a judge on the checklist of their category.

The module `options` documents the subset text. docs/hellobench.md lists the differences from the release.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, GenerationTask, LoadedBenchmark
from judge_r1.benchmarks.checklist_items import ChecklistEntry, checklist_benchmark
from judge_r1.benchmarks.hellobench.files import CONSTRAINED, RESULTS, read_instructions
from judge_r1.benchmarks.hellobench.gold import add_gold
from judge_r1.benchmarks.hellobench.options import HelloBenchOptions, parse_options
from judge_r1.benchmarks.hellobench.perplexity import perplexity_metric
from judge_r1.benchmarks.hellobench.predictions import predictions
from judge_r1.benchmarks.hellobench.reference_metrics import reference_metrics
from judge_r1.benchmarks.hellobench.responses import (
    answered,
    check_parts,
    chosen_weights,
    response_folders,
    weighted_checklist,
)
from judge_r1.benchmarks.hellobench.tables import TextTables
from judge_r1.benchmarks.hellobench.text_measures import joined
from judge_r1.benchmarks.hellobench.weights import Weights
from judge_r1.core.text_file import read_text


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """An item is one system's response to one instruction; its score is the weighted checklist, divided by 100. Groups
    are the tasks, and clusters the instructions."""
    options = parse_options(subset)
    weights = chosen_weights(path, options)
    entries = [
        entry
        for system, folder in response_folders(path, options).items()
        for entry in entries_of(path, system, folder, options, weights)
    ]
    return loaded(entries, options, weights)


def loaded(entries: Sequence[ChecklistEntry], options: HelloBenchOptions, weights: Weights) -> LoadedBenchmark:
    """The benchmark of these texts. Raises: BadBenchmark if there is none."""
    if not entries:
        raise BadBenchmark(f"hellobench has no response to judge with the subset {', '.join(options.parts) or 'given'}")
    if options.human or options.gold:
        entries = add_gold(entries, options)
    texts = {entry.item_id: entry.response for entry in entries}
    systems = {entry.item_id: entry.system for entry in entries}
    if options.against and options.against not in systems.values():
        raise BadBenchmark(f"hellobench: against={options.against} is none of the systems to judge")
    tables = TextTables(
        texts,
        systems,
        refusal_phrases(options.refusals),
        {
            **(reference_metrics(options.references, entries) if options.references else {}),
            **({"perplexity": perplexity_metric(options.perplexity, texts)} if options.perplexity else {}),
        },
        options.against,
    )
    if not options.legacy_join:
        return checklist_benchmark(entries, weights.name, tables)
    return checklist_benchmark(entries, weights.name, tables, shown=joined, pins={"texts": "joined by spaces"})


def entries_of(
    path: Path, system: str, folder: Path, options: HelloBenchOptions, weights: Weights
) -> Iterator[ChecklistEntry]:
    """The responses of one system that the options choose. An instruction without a response, or with an empty one, is
    no item: `n` in the tables shows how many there are.

    Raises:
        BadTable: An instruction has two responses, is unknown, or differs from the checkout's.
    """
    for response, instruction in answered(path, folder, options):
        if response.text.strip():
            yield ChecklistEntry(
                item_id=f"{system}/{response.stem}/{response.id}",
                cluster_id=response.id,
                group=response.stem,
                system=system,
                instruction=instruction.text,
                response=response.text,
                checklist=weighted_checklist(instruction, weights),
            )


def generation_tasks(path: Path, subset: str | None) -> list[GenerationTask]:
    """The instructions to answer: the five tasks, or with exp=length_constrained_exp those with a required length."""
    options = parse_options(subset)
    constrained = options.experiment == "length_constrained_exp"
    instructions = [one for one in read_instructions(path).values() if (one.stem in CONSTRAINED) == constrained]
    check_parts(options, {one.category for one in instructions})
    return [
        GenerationTask(f"{one.stem}{RESULTS}", one.id, one.text)
        for one in instructions
        if not options.parts or {one.stem, one.category} & set(options.parts)
    ]


def refusal_phrases(path: Path | None) -> list[str]:
    if path is None:
        return []
    found = [line.strip() for line in read_text(path).splitlines() if line.strip()]
    if not found:
        raise BadBenchmark(f"{path} holds no phrase: write the first words of refusals, one phrase on each line")
    return found


BENCHMARKS.register("hellobench")(
    Benchmark(
        "long texts of systems, scored by checklists with learned weights",
        "a checkout of Quehry/HelloBench, with data and checklists; responses in results or in another folder",
        load,
        predictions=predictions,
        generation_tasks=generation_tasks,
        subsets="TASK, CATEGORY, responses=FOLDER, weights=FILE and more, separated by commas; see its page",
    )
)
