"""Generates the groups of a build on the nodes of a Ray cluster. This process yields them in the order of the items.

The hidden folder `OUT/.groups` holds items and groups in blocks, and is removed at the end of the build. A build that
was killed finds the groups of its complete blocks there, if its plan and the version of judge-r1 are the same.
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from data_builders.generators.base import BuildPlan, Generator, RecordGroup
from judge_r1.core.jsonl import write_atomic
from judge_r1.core.ray_blocks import RayWorkers, run_blocks
from judge_r1.core.record_base import content_hash
from judge_r1.core.version import __version__

FOLDER = ".groups"
BLOCK = 32
"""Items of a block: what a kill can cost each worker."""


def groups_by_ray(generator: Generator[Any], out: Path, workers: RayWorkers) -> Iterator[RecordGroup | None]:
    """The groups of a generator without teachers, in the order of its items. A group depends on its item alone, so the
    groups are those that one process would make.

    Raises:
        JudgeError: A worker failed, or a file cannot be written.
    """
    key = content_hash("groups", __version__, repr(replace(generator.plan, cache=None)))
    folder = (out / FOLDER / key).absolute()
    for other in (out / FOLDER).glob("*"):
        if other.name != key:
            shutil.rmtree(other, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    blocks = list(_stage(generator, folder))
    missing = [block for block in blocks if not _groups(block).exists()]
    made = run_blocks(missing, partial(_Worker, type(generator), generator.plan), workers)
    for block in blocks:
        if block in missing:
            # Results come in the order of the missing blocks, so this one is of this block.
            next(made)
        yield from _read(_groups(block), _types(generator)[1])
    shutil.rmtree(out / FOLDER)


def _stage(generator: Generator[Any], folder: Path) -> Iterator[Path]:
    """Writes the items in blocks. The name of a block has a hash of its items."""
    items, number = generator.items(), 0
    while block := list(islice(items, BLOCK)):
        lines = _lines(block, _types(generator)[0])
        path = folder / f"{number:06}-{sha256(''.join(lines).encode()).hexdigest()[:16]}.items"
        if not _groups(path).exists():
            write_atomic(path, lines)
        number += 1
        yield path


class _Worker:
    """Reads the items of a block, and writes its groups beside them."""

    def __init__(self, made: type[Generator[Any]], plan: BuildPlan) -> None:
        self._generator = made(plan)

    def __call__(self, block: Path) -> None:
        if _groups(block).exists():  # Ray repeats a block whose worker was lost
            return
        item_type, group_type = _types(self._generator)
        groups = [self._generator.generate(item) for item in _read(block, item_type)]
        write_atomic(_groups(block), _lines(groups, group_type))
        block.unlink()


def _types(generator: Generator[Any]) -> tuple[Any, Any]:
    assert generator.parallel is not None
    return generator.parallel


def _groups(block: Path) -> Path:
    return block.with_suffix(".groups")


def _lines(values: Sequence[Any], kind: Any) -> list[str]:
    adapter = TypeAdapter[Any](kind)
    return [adapter.dump_json(value, by_alias=True).decode() + "\n" for value in values]


def _read(path: Path, kind: Any) -> Iterator[Any]:
    adapter = TypeAdapter[Any](kind)
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield adapter.validate_json(line)
