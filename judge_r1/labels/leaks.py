"""Looks for labels that a judge would see: in its template, in the examples of its prompt, in the items' own texts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from judge_r1.core.text_check import counted
from judge_r1.files.text_file import read_text
from judge_r1.judges.panel import judge_spec, parse_panel
from judge_r1.labels.kinds import BadLabels
from judge_r1.labels.rows import LabelledItem, Labels

RUN = 13
"""Words in a row that a prompt and an item must share to count as the same text."""
_LABEL_KEY = r"[\"']?(?:expected|label|gold|human_label|ground_truth)[\"']?\s*[:=]\s*[\"']?"


def without_leaks(labels: Labels, specs: Sequence[str], *, allow: bool, drop: bool) -> Labels:
    """The labels, with `drop` without the items that a prompt shows.

    Raises:
        BadLabels: A prompt shows items, or an item shows its own label; `allow` lets both pass.
    """
    if allow:
        return labels
    named = [item.id for item in labels.items if _names_its_label(item)]
    if named:
        raise BadLabels(
            f"{counted(len(named), 'item')} show a label in their own text, such as {named[0]}: leave that text out, "
            "or go on with --allow-leak"
        )
    for file in _prompt_files(specs):
        runs = set(_runs(read_text(file)))
        shown = [item.id for item in labels.items if any(set(_runs(text)) & runs for text in item.texts.values())]
        if shown and not drop:
            raise BadLabels(
                f"{file} shows {counted(len(shown), 'labelled item')}, such as {shown[0]}: leave them out with "
                "--drop-leaked, or go on with --allow-leak"
            )
        labels = replace(labels, items=[item for item in labels.items if item.id not in shown])
    return labels


def _prompt_files(specs: Sequence[str]) -> Iterator[Path]:
    """The templates and example files that the judges' SPECs name."""
    for spec in specs:
        for member in parse_panel(spec).members:
            for option in judge_spec(member).options:
                name, _, value = option.partition("=")
                if name in ("file", "prompt", "examples") and (path := Path(value)).is_file():
                    yield path
                elif name == "examples" and path.is_dir():
                    yield from (file for file in sorted(path.iterdir()) if file.is_file())


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return (tuple(words[at : at + RUN]) for at in range(max(0, len(words) - RUN + 1)))


def _names_its_label(item: LabelledItem) -> bool:
    """Whether a text says `"expected": "fail"` with the item's own label."""
    for label in set(item.labels.values()):
        key = re.compile(rf"{_LABEL_KEY}{re.escape(label)}\b", re.IGNORECASE)
        if any(key.search(text) for text in item.texts.values()):
            return True
    return False
