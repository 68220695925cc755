"""doctor: report installed versions, extras and devices."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import requires
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge_r1.core.text_check import counted
from judge_r1.core.version import installed

PACKAGE = "judge-r1"
PURPOSE = {
    "retrieval": "search by meaning, the shortcut audit",
    "train": "SFT, DPO and GRPO with TRL, local judges",
    "verl": "GRPO on Ray",
    "deepspeed": "SFT and DPO sharded over several GPUs",
    "gpu": "all of this on GPUs, with verl's versions (make setup-gpu)",
    "endpoints": "judges behind an HTTP endpoint",
    "teachers": "flaws and rationales by a chat model",
    "serve": "the judge behind an API",
    "ray-serve": "replicas of a served judge",
    "ray-data": "builds, indexes and evaluations on many nodes",
    "inspect": "a scorer for Inspect",
    "verifiers": "episodes as an environment of verifiers",
    "skyrl": "episodes as an environment of SkyRL",
    "tinker": "episodes as an environment of tinker-cookbook",
    "clients": "metrics for deepeval, MLflow, autoevals, openevals and lighteval",
    "text": "word counts and reference metrics of HelloBench",
    "mask": "secrets in traces (judge --mask)",
    "tools": "the tool python of episodes",
    "tagger": "names and verbs for degraded copies (build cofluence)",
    "tensorboard": "trackers: [tensorboard]",
    "trackio": "trackers: [trackio]",
    "wandb": "trackers: [wandb]",
}
"""The purpose of each extra, without those for developers."""


class Unmet(NamedTuple):
    """A package that an extra requires: missing (`found` is None), or in an incompatible version."""

    package: str
    required: str
    found: str | None

    def __str__(self) -> str:
        found = f", found {self.found}" if self.found else ""
        return f"{self.package}{f' {self.required}' if self.required else ''}{found}"


def extras(
    requirements: Sequence[str] | None = None, find: Callable[[str], str | None] = installed
) -> dict[str, list[Unmet]]:
    """The unmet requirements of each extra; an empty list if it is complete.

    Extras that the metadata of the installed package lacks (an older installation) are omitted.
    """
    parsed = [Requirement(text) for text in (requires(PACKAGE) or [] if requirements is None else requirements)]
    by_extra: dict[str, list[Requirement]] = {}
    for requirement in parsed:
        for name in re.findall(r"extra == ['\"]([\w-]+)['\"]", str(requirement.marker or "")):
            if requirement.marker is not None and requirement.marker.evaluate({"extra": name}):
                by_extra.setdefault(name, []).append(requirement)
    return {name: list(dict.fromkeys(_unmet(name, by_extra, find))) for name in PURPOSE if name in by_extra}


def _unmet(extra: str, by_extra: Mapping[str, Sequence[Requirement]], find: Callable[[str], str | None]) -> list[Unmet]:
    unmet: list[Unmet] = []
    for requirement in by_extra.get(extra, ()):
        if canonicalize_name(requirement.name) == PACKAGE:
            unmet += [one for other in sorted(requirement.extras) for one in _unmet(other, by_extra, find)]
            continue
        found = find(requirement.name)
        if found is None or not requirement.specifier.contains(found, prereleases=True):
            unmet.append(Unmet(requirement.name, str(requirement.specifier), found))
    return unmet


def doctor() -> None:
    """Show package versions, missing requirements of each extra, and devices.

    Example: `judge-r1 doctor`
    """
    from judge_r1.training.run_folder import versions

    console = Console()
    packages = Table("package", "version")
    for package, found in versions().items():
        packages.add_row(package, found or "not installed")
    console.print(packages)
    table = Table("extra", "purpose", "state")
    unmet_by_extra = extras()
    for extra, unmet in unmet_by_extra.items():
        table.add_row(extra, Text(PURPOSE[extra]), Text("; ".join(map(str, unmet)) or "complete"))
    console.print(table)
    for extra in (extra for extra, unmet in unmet_by_extra.items() if unmet):
        console.print(f"for {extra}: pip install 'judge-r1[{extra}]'", markup=False, highlight=False)
    for line in [*devices(), *gpu_checks()]:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def gpu_checks() -> list[str]:
    """One line per failed check of an environment for GPUs; nothing in an environment for the processor."""
    from judge_r1.training.preflight.packages import GPU_CHECKS, driver_version, for_gpus, problems

    driver = driver_version()
    if driver is None and not for_gpus():
        return []
    found = problems(list(GPU_CHECKS))
    if driver is not None and not for_gpus():
        found.insert(0, "torch is a CPU build, and this machine has an NVIDIA driver: make setup-gpu")
    line = f"NVIDIA driver {driver}" if driver else "no NVIDIA driver: a login node, or a container without GPUs"
    return [line, *(f"GPU check failed: {problem}" for problem in found)] if found else [f"{line}; GPU checks passed"]


def devices() -> list[str]:
    """One line per device."""
    from importlib.util import find_spec

    if find_spec("torch") is None:
        return [
            "no torch: data can be built and validated, but no model can be trained (pip install 'judge-r1[train]')"
        ]
    import torch

    lines = [f"CPU: {counted(os.cpu_count() or 1, 'core')}, torch uses {counted(torch.get_num_threads(), 'thread')}"]
    if not torch.cuda.is_available():
        return [*lines, "no GPU that torch can use: training runs on the CPU"]
    for number in range(torch.cuda.device_count()):
        gpu = torch.cuda.get_device_properties(number)
        lines.append(f"GPU {number}: {gpu.name}, {gpu.total_memory / 2**30:.0f} GiB, CUDA {torch.version.cuda}")
    return lines
