"""What is installed of the package's extras, by its own metadata."""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


class Lack(NamedTuple):
    """A package that an extra asks for: not there (`found` is None), or in a version that does not fit."""

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
