"""HelloBench and HelloEval (arXiv 2409.16191): checklists on long texts, with learned weights.

A judge answers the questions of a checklist about each response of each system. The score of a response is the sum of
its answers, with the weights of its category; a table has S = (score - 75) * 4 by task. People's scores of some
responses give the weights (`judge-r1 fit-weights`) and the correlation of the paper's Table 5.

| file | what it does |
|---|---|
| `files` | reads the release: instructions, responses, judgements, weights; and the text of `--subset` |
| `annotations` | reads people's scores, and released judgements to compare with |
| `text_measures` | length, repetition, refusals, BLEU, ROUGE-L, METEOR and perplexity of a text |
| `tables` | systems by tasks, and Table 5 |

This file puts them together and registers the benchmark.

docs/hellobench.md lists the differences from the release.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, GenerationTask, LoadedBenchmark, option_names
from judge_r1.benchmarks.checklist.items import ChecklistEntry, aggregate_checklists, checklist_benchmark
from judge_r1.benchmarks.hellobench.annotations import add_gold
from judge_r1.benchmarks.hellobench.files import (
    AVERAGE,
    CONSTRAINED,
    EXPERIMENTS,
    RESULTS,
    STEMS,
    HelloBenchOptions,
    Instruction,
    Response,
    Weights,
    default_weights,
    generation_options,
    parse_options,
    read_instructions,
    read_responses,
    read_weights,
    recovered,
    released_scores,
    summary_checklists,
    systems_in,
)
from judge_r1.benchmarks.hellobench.tables import TextTables
from judge_r1.benchmarks.hellobench.text_measures import joined, perplexity_metric, reference_metrics
from judge_r1.benchmarks.pairwise import vote_of
from judge_r1.core.checklist import Checklist
from judge_r1.core.folders import lacks
from judge_r1.core.items import ItemResult, item_result
from judge_r1.core.registry import suggest
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, Verdict
from judge_r1.files.tabular import Row
from judge_r1.files.text_file import read_text


class ChosenText(NamedTuple):
    """A response with its checklist, the category of its instruction, and the line that holds it."""

    entry: ChecklistEntry
    category: str
    row: Row


def chosen_texts(path: Path, options: HelloBenchOptions, weights: Weights) -> Iterator[ChosenText]:
    """The responses that the options choose.

    Raises:
        BadTable: An instruction has two responses, is unknown, or differs from the checkout's.
    """
    for system, folder in response_folders(path, options).items():
        for response, instruction in answered(path, folder, options):
            entry = ChecklistEntry(
                item_id=f"{system}/{response.stem}/{response.id}",
                cluster_id=response.id,
                group=response.stem,
                system=system,
                instruction=instruction.text,
                response=response.text,
                checklist=weighted_checklist(instruction, weights),
            )
            yield ChosenText(entry, instruction.category, response.row)


def response_folders(path: Path, options: HelloBenchOptions) -> dict[str, Path]:
    """The folder of each system. Without `responses`, those of the release's experiment; its judgements hold the
    responses, too. Raises: BadBenchmark."""
    if options.responses:
        found = systems_in(options.responses)
    else:
        experiment = options.exp or EXPERIMENTS[0]
        folders = [path / "results" / kind / experiment for kind in ("generations", "judgements")]
        there = next((folder for folder in folders if folder.is_dir()), None)
        if there is None:
            raise BadBenchmark(
                f"{lacks(path, f'results of {experiment}')}: give --path a checkout of Quehry/HelloBench with them, "
                "or --subset responses=FOLDER"
            )
        found = systems_in(there)
    if options.system is None:
        return found
    if options.system not in found:
        raise BadBenchmark(f"there are no responses of system {options.system!r}{suggest(options.system, found)}")
    return {options.system: found[options.system]}


def answered(path: Path, folder: Path, options: HelloBenchOptions) -> Iterator[tuple[Response, Instruction]]:
    """The responses in `folder` with their instructions, in the order of the files."""
    instructions, summaries = read_instructions(path), summary_checklists(path)
    check_parts(options, {*(found.category for found in instructions.values()), *summaries})
    for response in read_responses(folder):
        instruction = instructions.get((response.stem, response.id)) or recovered(response, summaries)
        if instruction is None:
            raise response.row.error("id", f"is {response.id!r}, which data/ of {path} does not hold")
        if not instruction.derived and instruction.text.strip() != response.instruction.strip():
            raise response.row.error("instruction", f"differs from that of {response.id!r} in data/ of {path}")
        if not options.parts or {response.stem, instruction.category} & set(options.parts):
            yield response, instruction


def check_parts(options: HelloBenchOptions, categories: set[str]) -> None:
    """Raises: BadBenchmark if a part of the subset is neither a task nor one of `categories`."""
    known = {*STEMS, *categories}
    if unknown := [part for part in options.parts if part not in known]:
        raise BadBenchmark(f"hellobench has no task or category {unknown[0]!r}{suggest(unknown[0], known)}")


def chosen_weights(path: Path, options: HelloBenchOptions) -> Weights:
    """The weights that the options name; without a name, those of the checkout. Raises: BadBenchmark, BadJson."""
    if options.weights is None:
        return default_weights(path)
    return Weights(AVERAGE) if options.weights == AVERAGE else read_weights(Path(options.weights))


def weighted_checklist(instruction: Instruction, weights: Weights) -> Checklist:
    """The questions of an instruction with the weights of its category."""
    questions = instruction.checklist.questions
    return Checklist.of(questions, weights.of(instruction.category, len(questions)))


_UNUSED = {"legacy_join": "changes what a judge reads, and --predictions runs none"}


def predictions_options(subset: str | None) -> HelloBenchOptions:
    """Raises: BadBenchmark for an option that has no effect on published judgements."""
    return parse_options(subset, _UNUSED)


def predictions(path: Path, file: Path, subset: str | None) -> Sequence[ItemResult]:
    """Scores released judgements, a results file of one task or the folder of one or several systems, by the release's
    rules (results/scripts/compute.py): a line with another number of scores, or a score outside [0, 1], is left out of
    S and counts as invalid."""
    options = predictions_options(subset).model_copy(update={"responses": file})
    chosen = list(chosen_texts(path, options, chosen_weights(path, options)))
    entries = add_gold([one.entry for one in chosen], options, part=True)
    return [_published(entry, one.row) for entry, one in zip(entries, chosen, strict=True)]


def _published(entry: ChecklistEntry, row: Row) -> ItemResult:
    scores = released_scores(row, len(entry.checklist.criteria))
    verdict: Verdict = InvalidVerdict(reason="released_skipped")
    if scores is not None:
        verdict = ChecklistVerdict(scores={str(number): score for number, score in enumerate(scores)})
    vote = vote_of((0,), verdict)
    return item_result("published", entry.item, [vote], aggregate_checklists(entry.checklist, [vote]))


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """An item is one system's response to one instruction; its score is the weighted checklist, divided by 100. Groups
    are the tasks, and clusters the instructions. An instruction without a response, or with an empty one, is no item:
    `n` in the tables shows how many there are."""
    options = parse_options(subset)
    weights = chosen_weights(path, options)
    return loaded([one for one in chosen_texts(path, options, weights) if one.entry.response.strip()], options, weights)


def predicted(path: Path, files: Sequence[Path], subset: str | None) -> LoadedBenchmark:
    """The texts in files of judgements, empty ones too.

    Raises:
        BadBenchmark: Two hold different responses of a system to an instruction, or not those of `responses` or `exp`.
    """
    options = predictions_options(subset)
    weights = chosen_weights(path, options)
    named = chosen_texts(path, options, weights) if options.responses or options.exp else ()
    judged = {one.entry.item_id: one for one in named}
    found: dict[str, ChosenText] = {}
    for file in files:
        for one in chosen_texts(path, options.model_copy(update={"responses": file}), weights):
            first = judged.get(one.entry.item_id) if judged else found.setdefault(one.entry.item_id, one)
            if first is None:
                raise BadBenchmark(f"{one.row.where}: judges a response that responses or exp of --subset do not name")
            if first.entry != one.entry:
                raise BadBenchmark(f"{one.row.where}: judges another response than the one in {first.row.where}")
            found[one.entry.item_id] = one
    return loaded(list(found.values()), options, weights)


def loaded(chosen: Sequence[ChosenText], options: HelloBenchOptions, weights: Weights) -> LoadedBenchmark:
    """The benchmark of these texts. Raises: BadBenchmark if there is none, or if an option has no effect on them."""
    if not chosen:
        raise BadBenchmark(f"hellobench has no response to judge with the subset {', '.join(options.parts) or 'given'}")
    there = {name for one in chosen for name in (one.entry.group, one.category)}
    if missing := [part for part in options.parts if part not in there]:
        raise BadBenchmark(f"hellobench has no response of {missing[0]} to judge: leave it out of --subset")
    entries = add_gold([one.entry for one in chosen], options)
    texts = {entry.item_id: entry.response for entry in entries}
    systems = {entry.item_id: entry.system for entry in entries}
    if options.against and options.against not in systems.values():
        raise BadBenchmark(f"hellobench: against={options.against} is none of the systems to judge")
    if options.against and len(set(systems.values())) == 1:
        raise BadBenchmark(f"hellobench: against={options.against} is the only system to judge: it has no win rate")
    tables = TextTables(
        texts,
        systems,
        refusal_phrases(options.refusals),
        {
            **(reference_metrics(options.references, entries) if options.references else {}),
            **({"perplexity": perplexity_metric(options.perplexity, texts)} if options.perplexity else {}),
        },
        options.against,
        human=options.human is not None,
    )
    shown, pins = (joined, {"texts": "joined by spaces"}) if options.legacy_join else (None, {})
    return checklist_benchmark(entries, weights.name, tables, tables.table_5, shown=shown, pins=pins)


def generation_tasks(path: Path, subset: str | None) -> list[GenerationTask]:
    """The instructions to answer: the five tasks, or with exp=length_constrained_exp those with a required length."""
    options = generation_options(subset)
    constrained = options.exp == "length_constrained_exp"
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
        verified=True,
        predictions=predictions,
        predicted=predicted,
        generation_tasks=generation_tasks,
        subsets=f"a task, a category; {option_names(HelloBenchOptions)}",
    )
)
