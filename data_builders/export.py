"""`export`: folders of pairs as files that trainers read, with a dataset card. Rows stream; same input, same bytes."""

import json
import platform
import re
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

from data_builders.exports import FORMATS, Options
from data_builders.exports.dataset_card import SplitStats, dataset_card
from data_builders.splits.split import REPORT_FILE
from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import Writing
from judge_r1.core.pair_set import PAIRS_FILE, open_cases, stored_pairs

LLAMA_FACTORY_FILE = "dataset_info.json"


def export(path: Path, out: Path, name: str, options: Options) -> dict[str, SplitStats]:
    """Write every split of `path` in the format `name`, with README.md and, where LLaMA-Factory reads the format,
    dataset_info.json. All files are put in place when all are whole. Returns what each split holds."""
    chosen = FORMATS.get(name)
    folders = splits_of(path)
    tables = chosen.tables(options)
    files = {
        table: {split: f"{f'{table}/' if len(tables) > 1 else ''}{split}.{chosen.suffix}" for split in folders}
        for table in tables
    }
    info = {
        f"judge_r1_{table}_{split}": {"file_name": file, **chosen.llama_factory[table]}
        for table, of_split in files.items()
        for split, file in of_split.items()
        if table in chosen.llama_factory
    }
    tallies, whole, seen = {split: SplitStats() for split in folders}, SplitStats(), set[str]()
    beside = [out / "README.md", *([out / LLAMA_FACTORY_FILE] if info else [])]
    with ExitStack() as stack:
        texts = stack.enter_context(Writing(*beside))
        sinks = {
            (table, split): stack.enter_context(chosen.open(out / file))
            for table, of_split in files.items()
            for split, file in of_split.items()
        }
        for split, folder in folders.items():
            for index, (_, pair, case) in enumerate(stored_pairs(folder, open_cases(folder))):
                tallies[split].add(pair, case)
                if pair.pair_id not in seen:  # nested training sets hold a pair several times
                    seen.add(pair.pair_id)
                    whole.add(pair, case)
                for table, row in tables.items():
                    sinks[table, split].write(row(pair, case, index, split))
        card = dataset_card(name, files, tallies, whole, chosen.notes(options), _split_report(path), _versions())
        texts.write(out / "README.md", card)
        if info:
            texts.write(out / LLAMA_FACTORY_FILE, json.dumps(info, indent=2) + "\n")
    return tallies


def splits_of(path: Path) -> dict[str, Path]:
    """The folders of pairs at `path` by the name of their split: `path` itself as `train`, or what `split` wrote there
    (other folders beside, such as the pairs that were split, are none of it), or else all its subfolders."""
    if (path / PAIRS_FILE).exists():
        return {"train": path}
    if report := _report_in(path):
        folders = sorted(path / name for name in report["parts"])
    else:
        folders = sorted(file.parent for file in path.glob(f"*/{PAIRS_FILE}"))
    if not folders:
        raise JudgeError(f"{path} holds no {PAIRS_FILE}, and none of its folders does: build or split pairs there")
    found = {re.sub(r"\W", "_", folder.name): folder for folder in folders}
    if len(found) < len(folders):
        raise JudgeError(f"two folders of {path} differ in punctuation only: rename one, they would be one split")
    return found


def _split_report(path: Path) -> dict[str, Any] | None:
    """The split.json of a folder that `judge-r1 split` wrote, or of the one that it is part of."""
    if report := _report_in(path):
        return report
    report = _report_in(path.parent)
    return report if report and path.name in report["parts"] else None


def _report_in(folder: Path) -> dict[str, Any] | None:
    file = folder / REPORT_FILE
    if not file.is_file():
        return None
    try:
        report: dict[str, Any] = json.loads(file.read_bytes())
    except ValueError as error:
        raise JudgeError(f"{file} is not valid JSON: {error}") from None
    if not isinstance(report, dict) or not {"parts", "settings", "near_duplicates"} <= report.keys():
        raise JudgeError(f"{file} is not what judge-r1 split writes: split the pairs again")
    return report


def _versions() -> dict[str, str]:
    return {"judge-r1": version("judge-r1"), "Python": platform.python_version()}
