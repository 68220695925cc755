"""The responses that the options of an evaluation choose, with their instructions and weights."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.checklist.items import ChecklistEntry
from judge_r1.benchmarks.hellobench.files import (
    STEMS,
    Instruction,
    Response,
    read_instructions,
    read_responses,
    recovered,
    summary_checklists,
    systems_in,
)
from judge_r1.benchmarks.hellobench.options import EXPERIMENTS, HelloBenchOptions
from judge_r1.benchmarks.hellobench.weights import AVERAGE, Weights, default_weights, read_weights
from judge_r1.core.checklist import Checklist
from judge_r1.core.folders_below import lacks
from judge_r1.core.registry import suggest
from judge_r1.core.tabular import Row


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
        experiment = options.experiment or EXPERIMENTS[0]
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
