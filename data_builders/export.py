"""Exports data folders in a format that trainers read, with a dataset card. Rows are streamed."""

import json
import platform
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from data_builders.audit.look_up import look_up_line
from data_builders.audit.reading.results import READING_FILE, card_lines
from data_builders.audit.shortcuts import AUDIT_FILE
from data_builders.dataset_card import dataset_card
from data_builders.dataset_type import DatasetType, ExampleStats, read_report
from data_builders.exports import Options, longest_text
from data_builders.generators import dataset_of
from data_builders.splits.split import REPORT_FILE
from judge_r1.core.errors import JudgeError
from judge_r1.core.folders import lacks, name_below
from judge_r1.core.records import ReasoningPair
from judge_r1.files.file_lock import lock_folder
from judge_r1.files.jsonl import write_atomic
from judge_r1.files.partial_files import staged_folder
from judge_r1.training.data.targets import chosen_principles

CARD_FILE, LLAMA_FACTORY_FILE = "README.md", "dataset_info.json"


class Exported(NamedTuple):
    """The statistics of each split, and a line about the longest example of each table."""

    splits: dict[str, ExampleStats[Any]]
    lengths: list[str]


def export(path: Path, out: Path, name: str, options: Options, tokenizer: str | None = None) -> Exported:
    """Write every split of `path` in the format `name`, with README.md and, for formats that LLaMA-Factory reads,
    dataset_info.json. All files are put in place together at the end. `tokenizer` names the model whose tokens measure
    the longest example; without one, its characters do.

    Raises: JudgeError if another process writes to `out`.
    """
    dataset = dataset_of(path)
    chosen = dataset.format(name)
    folders = splits_of(path, dataset)
    if "preference" in chosen.reads:
        records = (dataset.parts(example)[0] for folder in folders.values() for example in dataset.examples(folder))
        found = chosen_principles(record for record in records if isinstance(record, ReasoningPair))
        options = replace(options, principles=found or options.principles)
    tables, entries = chosen.tables(options), chosen.llama_factory(options)
    files = {
        table: {split: f"{f'{table}/' if len(tables) > 1 else ''}{split}.{chosen.suffix}" for split in folders}
        for table in tables
    }
    info = {
        f"judge_r1_{table}_{split}": {"file_name": file, **entries[table]}
        for table, of_split in files.items()
        for split, file in of_split.items()
        if table in entries
    }
    count, longest = _counter(tokenizer) if chosen.limit else None, dict.fromkeys(tables, 0)
    stats, whole, seen = {split: dataset.stats() for split in folders}, dataset.stats(), set[str]()
    with lock_folder(out), staged_folder(out) as staging:
        with ExitStack() as stack:
            writers = {
                (table, split): stack.enter_context(chosen.open(staging / file))
                for table, of_split in files.items()
                for split, file in of_split.items()
            }
            for split, folder in folders.items():
                for index, example in enumerate(dataset.examples(folder)):
                    stats[split].add(example)
                    if (example_id := dataset.example_id(example)) not in seen:  # nested training sets repeat examples
                        seen.add(example_id)
                        whole.add(example)
                    for table, row in tables.items():
                        made = row(example, index, split)
                        writers[table, split].write(made)
                        if count:
                            longest[table] = max(longest[table], count(longest_text(made)))
        versions = {"judge-r1": version("judge-r1"), "Python": platform.python_version()}
        lengths = _length_lines(longest, tokenizer, chosen.limit) if chosen.limit else []
        notes, split_report = [*chosen.notes(options), *lengths], _split_report(path)
        reading = card_lines(read_report(path / READING_FILE)) if (path / READING_FILE).is_file() else []
        audits = _audit_lines({path, *folders.values()})
        card = dataset_card(dataset, name, files, stats, whole, notes, split_report, reading, audits, versions)
        write_atomic(staging / CARD_FILE, [card])
        if info:
            write_atomic(staging / LLAMA_FACTORY_FILE, [json.dumps(info, indent=2) + "\n"])
    return Exported(stats, lengths)


def _counter(tokenizer: str | None) -> Callable[[str], int]:
    """Counts the tokens of a text, or without a tokenizer its characters. Raises: ModelUnavailable."""
    if tokenizer is None:
        return len
    from judge_r1.models.hub import text_tokenizer

    loaded = text_tokenizer(tokenizer)
    return lambda text: len(loaded(text, add_special_tokens=False)["input_ids"])


def _length_lines(longest: Mapping[str, int], tokenizer: str | None, limit: str) -> list[str]:
    unit = f"tokens of {tokenizer}" if tokenizer else "characters"
    sizes = ", ".join(f"of `{table}` {count:,} {unit}" for table, count in longest.items())
    return [f"The longest example has, without the markup of the chat, {sizes}. Longer rows are cut: set {limit}."]


def splits_of(path: Path, dataset: DatasetType[Any]) -> dict[str, Path]:
    """The data folders at `path` by split: `path` itself as `train`, or the parts that `judge-r1 split` wrote there, or
    else all subfolders with data."""
    file = dataset.main.file
    if (path / file).exists():
        return {"train": path}
    if report := _report_in(path):
        folders = sorted(path / name for name in report["parts"])
    else:
        folders = sorted(found.parent for found in path.glob(f"*/{file}"))
    if not folders:
        plural = dataset.main.plural
        raise JudgeError(
            f"{lacks(path, f'{file}, nor do its folders')}: build or split {plural} there{name_below(path, file)}"
        )
    splits = {re.sub(r"\W", "_", folder.name): folder for folder in folders}
    if len(splits) < len(folders):
        raise JudgeError(f"two folders of {path} differ in punctuation only: rename one, they would be one split")
    return splits


def _audit_lines(folders: Iterable[Path]) -> list[str]:
    """What `judge-r1 audit` flags in these folders, and what a look-up finds. Raises: JudgeError for a file of an
    earlier version."""
    lines: list[str] = []
    for file in sorted(folder / AUDIT_FILE for folder in folders if (folder / AUDIT_FILE).is_file()):
        report = read_report(file)
        flags, found = report.get("flag_lines"), [look_up_line(report)] if "look_up" in report else []
        if flags is None:
            raise JudgeError(f"{file} has no flag_lines: run judge-r1 audit {file.parent} again")
        lines += [f"* {file.parent.name}: {line}" for line in [*(flags or ["nothing is flagged."]), *found]]
    return lines or ["Not audited: `judge-r1 audit` says what the texts reveal of their labels without the case."]


def _split_report(path: Path) -> dict[str, Any] | None:
    """The split.json in a folder, or in its parent if the folder is one of the parts."""
    if report := _report_in(path):
        return report
    report = _report_in(path.parent)
    return report if report and path.name in report["parts"] else None


def _report_in(folder: Path) -> dict[str, Any] | None:
    file = folder / REPORT_FILE
    if not file.is_file():
        return None
    report = read_report(file)
    if not {"parts", "settings", "near_duplicates"} <= report.keys():
        raise JudgeError(f"{file} was not written by judge-r1 split: split the pairs again")
    return report
