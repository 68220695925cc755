"""What a folder lacks, in words, and which folders below it have it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

DEPTH, SEARCHED, NAMED = 5, 2_000, 6
"""Levels below the start and folders that are searched, and folders that a message names."""


def lacks(folder: Path, what: str) -> str:
    """`FOLDER holds no WHAT`, or that there is no such folder: the beginning of every message about a wrong folder."""
    if not os.path.exists(folder):  # Path.exists raises for a name that is too long
        return f"{folder} does not exist"
    return f"{folder} is a file, which holds no {what}" if os.path.isfile(folder) else f"{folder} holds no {what}"


def name_below(folder: Path, file: str, noun: str = "") -> str:
    """`; NOUN below FOLDER: a, b`, the folders that hold `file`; an empty text if there are none. The search begins at
    the nearest folder that exists, if `folder` is missing."""
    start = next((parent for parent in (folder, *folder.parents) if os.path.isdir(parent)), Path())
    if start in (Path(), Path(start.anchor)):  # nothing of the path exists
        return ""
    found = [str(path) for path in _folders_with(file, start)]
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"; {noun or f'folders with {file}'} below {start}: {', '.join(found[:NAMED])}{more}" if found else ""


def _folders_with(file: str, start: Path) -> Iterator[Path]:
    """The folders that hold `file`, level by level, without those inside of one that does."""
    level, searched = [start], 0
    for _ in range(DEPTH):
        below: list[Path] = []
        for parent in level:
            if (searched := searched + 1) > SEARCHED:
                return
            with suppress(OSError), os.scandir(parent) as entries:
                below += sorted(Path(parent, entry.name) for entry in entries if entry.is_dir(follow_symlinks=False))
        found = [path for path in below if os.path.exists(path / file)]
        yield from found
        level = [path for path in below if path not in found]
