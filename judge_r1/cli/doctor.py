"""What is installed of the package's extras, by its own metadata."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from typing import NamedTuple

import typer
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rich.console import Console
from rich.table import Table
from rich.text import Text

PACKAGE = "judge-r1"
PURPOSE = {
    "retrieval": "search by meaning, the shortcut audit",
    "train": "SFT, DPO and GRPO with TRL, local judges",
    "verl": "GRPO on Ray",
    "deepspeed": "SFT and DPO sharded over several GPUs",
    "endpoints": "judges behind an HTTP endpoint",
    "teachers": "flaws and rationales by a chat model",
    "serve": "the judge behind an API",
    "ray-serve": "replicas of a served judge",
    "tensorboard": "trackers: [tensorboard]",
    "trackio": "trackers: [trackio]",
    "wandb": "trackers: [wandb]",
}
"""What each extra of a user is for; those of developers are left out."""


def register(app: typer.Typer) -> None:
    app.command()(doctor)


class Lack(NamedTuple):
    """A package that an extra requires: missing (`found` is None), or in an incompatible version."""

    package: str
    wanted: str
    found: str | None

    def __str__(self) -> str:
        found = f", found {self.found}" if self.found else ""
        return f"{self.package}{f' {self.wanted}' if self.wanted else ''}{found}"


def installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def extras(
    requirements: Sequence[str] | None = None, find: Callable[[str], str | None] = installed
) -> dict[str, list[Lack]]:
    """What each extra lacks, an empty list where it is whole. By the metadata of the installed package; extras that
    it does not know (it was installed before they came) are left out."""
    parsed = [Requirement(text) for text in (requires(PACKAGE) or [] if requirements is None else requirements)]
    by_extra: dict[str, list[Requirement]] = {}
    for requirement in parsed:
        for name in re.findall(r"extra == ['\"]([\w-]+)['\"]", str(requirement.marker or "")):
            if requirement.marker is not None and requirement.marker.evaluate({"extra": name}):
                by_extra.setdefault(name, []).append(requirement)
    return {name: list(dict.fromkeys(_lacks(name, by_extra, find))) for name in PURPOSE if name in by_extra}


def _lacks(extra: str, by_extra: Mapping[str, Sequence[Requirement]], find: Callable[[str], str | None]) -> list[Lack]:
    lacks: list[Lack] = []
    for requirement in by_extra.get(extra, ()):
        if canonicalize_name(requirement.name) == PACKAGE:
            lacks += [lack for other in sorted(requirement.extras) for lack in _lacks(other, by_extra, find)]
            continue
        found = find(requirement.name)
        if found is None or not requirement.specifier.contains(found, prereleases=True):
            lacks.append(Lack(requirement.name, str(requirement.specifier), found))
    return lacks


def doctor() -> None:
    """Show the versions that matter, the devices, and what is missing for what.

    Example: `judge-r1 doctor`
    """
    from judge_r1.training.run_folder import versions

    console = Console()
    matrix = Table("package", "version")
    for package, found in versions().items():
        matrix.add_row(package, found or "not installed")
    console.print(matrix)
    table = Table("extra", "what for", "state")
    lacking = extras()
    for extra, lacks in lacking.items():
        table.add_row(extra, Text(PURPOSE[extra]), Text("; ".join(map(str, lacks)) or "complete"))
    console.print(table)
    for extra in (extra for extra, lacks in lacking.items() if lacks):
        console.print(f"for {extra}: pip install 'judge-r1[{extra}]'", markup=False, highlight=False)
    for line in devices():
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def devices() -> list[str]:
    """What there is to compute with, a line each."""
    from importlib.util import find_spec

    if find_spec("torch") is None:
        return ["no torch: data can be built and checked, nothing can be trained (pip install 'judge-r1[train]')"]
    import torch

    lines = [f"CPU: {os.cpu_count()} core(s), torch uses {torch.get_num_threads()} thread(s)"]
    if not torch.cuda.is_available():
        return [*lines, "no GPU that torch can use: training runs on the CPU"]
    for number in range(torch.cuda.device_count()):
        found = torch.cuda.get_device_properties(number)
        lines.append(f"GPU {number}: {found.name}, {found.total_memory / 2**30:.0f} GiB, CUDA {torch.version.cuda}")
    return lines
