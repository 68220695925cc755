"""Writes the dataset card of an export: contents, origins, licenses. `datasets.load_dataset` finds the files by its
header."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from data_builders.dataset_type import DatasetType, ExampleStats
from judge_r1.core.text_check import counted
from judge_r1.files.strict_yaml import dump_yaml


def _creative_commons(terms: str, version: str) -> str:
    """A pattern for a license by name or address, except for variants such as `/igo`."""
    number = re.escape(version)
    return rf"(?:CC {terms} {number}|creativecommons\.org/licenses/{terms.lower()}/{number}(?!/\w))"


_KNOWN = {
    "apache-2.0": r"Apache-2\.0",
    "mit": r"MIT",
    "cc0-1.0": r"CC0(?: 1\.0|-1\.0)?",
    **{f"cc-by-{v}": _creative_commons("BY", v) for v in ("2.0", "3.0", "4.0")},
    **{f"cc-by-sa-{v}": _creative_commons("BY-SA", v) for v in ("3.0", "4.0")},
}
"""Names of licenses on dataset hubs, and patterns for their spellings in corpora."""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def hub_licenses(texts: Sequence[str]) -> list[str]:
    """The hub's names of the licenses; `other` if a text says more than one of them."""
    found = set()
    for text in texts:
        names = [name for name, pattern in _KNOWN.items() if re.search(rf"\b{pattern}(?![\w.])", text)]
        exact = any(re.fullmatch(pattern, text.strip()) for pattern in _KNOWN.values())
        found.update(names if exact else [*names, "other"])
    return sorted(found)


def dataset_card(
    dataset: DatasetType[Any],
    name: str,
    files: Mapping[str, Mapping[str, str]],
    splits: Mapping[str, ExampleStats[Any]],
    whole: ExampleStats[Any],
    notes: Sequence[str],
    split_report: Mapping[str, Any] | None,
    reading: Sequence[str],
    audits: Sequence[str],
    versions: Mapping[str, str],
) -> str:
    """README.md of an export in the format `name`.

    `files` maps each table to its files by split. `splits` holds the counts of each split, `whole` those of all
    distinct examples. `split_report` is the split.json of the exported data, `reading` has the lines about a reading,
    `audits` those about shortcuts.
    """
    configs = [
        {
            "config_name": table,
            **({"default": True} if index == 0 else {}),
            "data_files": [{"split": split_name, "path": path} for split_name, path in paths.items()],
        }
        for index, (table, paths) in enumerate(files.items())
    ]
    header = {
        "pretty_name": f"{dataset.title} ({name})",
        **({"license": hub_licenses(list(whole.licenses))} if whole.licenses else {}),
        "size_categories": [next((label for limit, label in _SIZES if whole.total < limit), "n>1M")],
        "tags": list(dataset.tags),
        "configs": configs,
    }
    placement = [{"split": split, **row} for split, stats in splits.items() for row in stats.placement()]
    how = [*whole.origins(), *(["", *_split_lines(split_report)] if split_report else [])]
    body = [
        f"# {dataset.title} ({name})",
        "",
        *dataset.description,
        "",
        *(f"{note}\n" for note in notes),
        *_table([{"split": split, **stats.cells()} for split, stats in splits.items()]),
        "",
        *([dataset.table_note, ""] if dataset.table_note else []),
        *(["## Pairs in which A is better", "", *_table(placement), ""] if placement else []),
        *(["## How it was built", "", *how, ""] if how else []),
        *(["## Read", "", *reading, ""] if reading else []),
        *["## What shortcuts reveal", "", *audits, ""],
        "Written with " + ", ".join(f"{package} {version}" for package, version in versions.items()) + ".",
        *_license_lines(whole),
    ]
    return f"---\n{dump_yaml(header)}---\n\n" + "\n".join(body) + "\n"


def _table(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """A table with all columns of the rows, in order. A row without a column leaves its cell empty."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [columns, *([str(row.get(column, "")) for column in columns] for row in rows)]
    formatted = [f"| {' | '.join(line)} |" for line in lines]
    return [formatted[0], "|" + "---|" * len(columns), *formatted[1:]]


def _license_lines(whole: ExampleStats[Any]) -> list[str]:
    if not whole.licenses:
        return []
    lines = [f"* {' '.join(text.split())} ({counted(count, 'case')})" for text, count in sorted(whole.licenses.items())]
    return ["", "## Licences", "", "As the corpora state them:", "", *lines]


def _split_lines(report: Mapping[str, Any]) -> list[str]:
    settings = ", ".join(f"{key} {value}" for key, value in report["settings"].items())
    near = report["near_duplicates"]
    lines = [
        f"Split by case ({settings}); {counted(near['pairs'], 'pair')} of nearly alike cases (runs of eight words, "
        f"Jaccard index of at least {near['threshold']}), none on both sides.",
    ]
    if (lengths := report.get("prompt_tokens")) and lengths["left_out"]:
        lines.append(f"Left out: {counted(lengths['left_out'], 'pair')} with prompts over {lengths['limit']} tokens.")
    return lines
