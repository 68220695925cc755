"""Loads HelloBench (arXiv 2409.16191): long texts, scored by a judge on the checklist of their category.

The module `options` documents the subset text. docs/hellobench.md lists the differences from the release.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, GenerationTask, LoadedBenchmark
from judge_r1.benchmarks.checklist_items import ChecklistEntry, aggregate_checklists, checklist_benchmark
from judge_r1.benchmarks.hellobench.files import (
    CONSTRAINED,
    RESULTS,
    STEMS,
    Instruction,
    Response,
    read_instructions,
    read_responses,
    recovered,
    released_scores,
    summary_checklists,
    systems_in,
)
from judge_r1.benchmarks.hellobench.gold import add_gold
from judge_r1.benchmarks.hellobench.options import HelloBenchOptions, parse_options
from judge_r1.benchmarks.hellobench.perplexity import perplexity_metric
from judge_r1.benchmarks.hellobench.reference_metrics import reference_metrics
from judge_r1.benchmarks.hellobench.tables import TextTables
from judge_r1.benchmarks.hellobench.text_measures import joined
from judge_r1.benchmarks.hellobench.weights import AVERAGE, Weights, default_weights, read_weights
from judge_r1.core.checklist import Checklist
from judge_r1.core.items import ItemResult, Vote
from judge_r1.core.registry import suggest
from judge_r1.core.text_file import read_text
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, Verdict


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
                checklist=_weighted(instruction, weights),
            )


def answered(path: Path, folder: Path, options: HelloBenchOptions) -> Iterator[tuple[Response, Instruction]]:
    """The responses in `folder` with their instructions, in the order of the files."""
    instructions, summaries = read_instructions(path), summary_checklists(path)
    _check_parts(options, {*(found.category for found in instructions.values()), *summaries})
    for response in read_responses(folder):
        instruction = instructions.get((response.stem, response.id)) or recovered(response, summaries)
        if instruction is None:
            raise response.row.error("id", f"is {response.id!r}, which data/ of {path} does not hold")
        if not instruction.derived and instruction.text.strip() != response.instruction.strip():
            raise response.row.error("instruction", f"differs from that of {response.id!r} in data/ of {path}")
        if not options.parts or {response.stem, instruction.category} & set(options.parts):
            yield response, instruction


def generation_tasks(path: Path, subset: str | None) -> list[GenerationTask]:
    """The instructions to answer: the five tasks, or with exp=length_constrained_exp those with a required length."""
    options = parse_options(subset)
    constrained = options.experiment == "length_constrained_exp"
    instructions = [one for one in read_instructions(path).values() if (one.stem in CONSTRAINED) == constrained]
    _check_parts(options, {one.category for one in instructions})
    return [
        GenerationTask(f"{one.stem}{RESULTS}", one.id, one.text)
        for one in instructions
        if not options.parts or {one.stem, one.category} & set(options.parts)
    ]


def _check_parts(options: HelloBenchOptions, categories: set[str]) -> None:
    known = {*STEMS, *categories}
    if unknown := [part for part in options.parts if part not in known]:
        raise BadBenchmark(f"hellobench has no task or category {unknown[0]!r}{suggest(unknown[0], known)}")


def response_folders(path: Path, options: HelloBenchOptions) -> dict[str, Path]:
    """The folder of each system. Without `responses`, those of the release's experiment; its judgements hold the
    responses, too. Raises: BadBenchmark."""
    if options.responses:
        found = systems_in(options.responses)
    else:
        folders = [path / "results" / kind / options.experiment for kind in ("generations", "judgements")]
        there = next((folder for folder in folders if folder.is_dir()), None)
        if there is None:
            raise BadBenchmark(f"{path} holds no results of {options.experiment}: give --subset responses=FOLDER")
        found = systems_in(there)
    if options.system is None:
        return found
    if options.system not in found:
        raise BadBenchmark(f"there are no responses of system {options.system!r}{suggest(options.system, found)}")
    return {options.system: found[options.system]}


def chosen_weights(path: Path, options: HelloBenchOptions) -> Weights:
    if options.weights is None:
        return default_weights(path)
    return Weights(AVERAGE) if options.weights == AVERAGE else read_weights(Path(options.weights))


def refusal_phrases(path: Path | None) -> list[str]:
    if path is None:
        return []
    found = [line.strip() for line in read_text(path).splitlines() if line.strip()]
    if not found:
        raise BadBenchmark(f"{path} holds no phrase: write the first words of refusals, one phrase on each line")
    return found


def predictions(path: Path, file: Path, subset: str | None) -> Sequence[ItemResult]:
    """Scores released judgements, a results file of one task or the folder of one system, by the release's rules
    (results/scripts/compute.py): a line with another number of scores, or a score outside [0, 1], is left out of S and
    counts as invalid."""
    options = replace(parse_options(subset), responses=file)
    weights = chosen_weights(path, options)
    results = []
    for system, folder in response_folders(path, options).items():
        for response, instruction in answered(path, folder, options):
            checklist = _weighted(instruction, weights)
            item_id = f"{system}/{response.stem}/{response.id}"
            results.append(_published(item_id, response, checklist))
    return results


def _published(item_id: str, response: Response, checklist: Checklist) -> ItemResult:
    scores = released_scores(response.row, len(checklist.criteria))
    verdict: Verdict = InvalidVerdict(reason="released_skipped")
    if scores is not None:
        verdict = ChecklistVerdict(scores={str(number): score for number, score in enumerate(scores)})
    vote = Vote(order=(0,), sample=0, member=0, verdict=verdict, ended="answer", searches=0)
    aggregated = aggregate_checklists(checklist, [vote])
    return ItemResult(
        judge="published",
        item_id=item_id,
        cluster_id=response.id,
        group=response.stem,
        gold={"scores": None, "overall": None},
        verdict=aggregated.verdict,
        score=aggregated.score,
        votes=(vote,),
    )


def _weighted(instruction: Instruction, weights: Weights) -> Checklist:
    questions = instruction.checklist.questions
    return Checklist.of(questions, weights.of(instruction.category, len(questions)))


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
