"""Prints the sizes of a source tree: lines, files, words, options, and imports in a circle or against the layers.

    python scripts/code_sizes.py
    python scripts/code_sizes.py --compare f21ca3fc       # that revision and the working tree

Reads imports with `ast` and runs none of the code. A layer is a folder of `judge_r1`, `retrieval` or `data_builders`.
"""

import argparse
import ast
import io
import subprocess
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

PACKAGES = ("retrieval", "judge_r1", "data_builders")
ROOT = Path(__file__).resolve().parents[1]
ORDER = [
    "judge_r1/cli", "data_builders", "judge_r1", "judge_r1/integrations", "judge_r1/training", "judge_r1/serving",
    "judge_r1/labels", "judge_r1/evaluation", "judge_r1/rewards", "judge_r1/benchmarks", "judge_r1/judges",
    "judge_r1/episode", "judge_r1/models", "judge_r1/statistics", "judge_r1/client", "judge_r1/traces",
    "judge_r1/files", "judge_r1/core", "retrieval",
]  # fmt: skip
"""The layers from the top down."""


@dataclass(frozen=True)
class Module:
    """A Python file: its dotted name, its folder relative to the root, its imports and its number of lines."""

    name: str
    folder: str
    tree: ast.Module
    lines: int

    @property
    def is_package(self) -> bool:
        return self.name.replace(".", "/") == self.folder


def read_modules(root: Path) -> dict[str, Module]:
    """All modules of PACKAGES under `root`, by dotted name."""
    modules = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            relative = path.relative_to(root)
            parts = relative.parent.parts if path.stem == "__init__" else (*relative.parent.parts, path.stem)
            text = path.read_text(encoding="utf-8")
            name = ".".join(parts)
            modules[name] = Module(name, relative.parent.as_posix(), ast.parse(text), text.count("\n"))
    return modules


def imported(module: Module, known: Iterable[str]) -> Iterator[str]:
    """The known modules that `module` imports, anywhere in its code."""
    names = set(known)
    package = module.name if module.is_package else module.name.rpartition(".")[0]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            candidates = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            candidates = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for candidate in candidates:
            while candidate and candidate not in names:
                candidate = candidate.rpartition(".")[0]
            if candidate and candidate != module.name:
                yield candidate


def box_of(folder: str) -> str:
    """The first folder below `judge_r1`; `retrieval` and `data_builders` as a whole."""
    parts = folder.split("/")
    return "/".join(parts[:2]) if parts[0] == "judge_r1" else parts[0]


def layer_order(modules: dict[str, Module]) -> list[str]:
    """The boxes from the top layer down; those that `ORDER` lacks are last."""
    places = {box: place for place, box in enumerate(ORDER)}
    boxes = {box_of(module.folder) for module in modules.values()}
    return sorted(boxes, key=lambda box: (places.get(box, len(ORDER)), box))


def edges_between(modules: dict[str, Module], group: dict[str, str]) -> Counter[tuple[str, str]]:
    """(from, to) → number of imports, between different groups."""
    edges: Counter[tuple[str, str]] = Counter()
    for module in modules.values():
        for target in set(imported(module, modules)):
            ends = group[module.name], group[target]
            if ends[0] != ends[1]:
                edges[ends] += 1
    return edges


def cycles(nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Strongly connected components of two or more nodes."""
    arcs = list(edges)
    names = list(dict.fromkeys([*nodes, *chain.from_iterable(arcs)]))
    graph = np.zeros((len(names), len(names)), dtype=bool)
    for source, target in arcs:
        graph[names.index(source), names.index(target)] = True
    _, labels = connected_components(csr_matrix(graph), connection="strong")
    members = defaultdict(list)
    for name, label in zip(names, labels, strict=True):
        members[label].append(name)
    return sorted(sorted(component) for component in members.values() if len(component) > 1)


def _names(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Attribute):
        return {node.attr}
    if isinstance(node, ast.alias):
        return {node.name}
    return set()


def totals(root: Path) -> dict[str, int]:
    """Sizes of a source tree: lines, words, files, options, raises, cycles and imports against the layers."""

    def lines(folder: str) -> int:
        return sum(path.read_text(encoding="utf-8").count("\n") for path in (root / folder).rglob("*.py"))

    def words(pattern: str) -> int:
        return sum(len(path.read_text(encoding="utf-8").split()) for path in root.glob(pattern))

    modules = read_modules(root)
    importers = Counter(target for module in modules.values() for target in set(imported(module, modules)))
    raises = sum(isinstance(node, ast.Raise) for module in modules.values() for node in ast.walk(module.tree))
    inside = sum(module.lines for module in modules.values())
    findings = sum(path.read_text(encoding="utf-8").count("\n") for path in root.glob("findings/*") if path.is_file())
    own = edges_between(modules, {name: name for name in modules})
    commands = [ast.parse(path.read_text(encoding="utf-8")) for path in (root / "judge_r1/cli").rglob("*.py")]
    calls = (node.func for tree in commands for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {
        "lines of packages": inside,
        "lines of scripts": lines("scripts"),
        "lines of findings": findings,
        "lines of product": inside + lines("scripts") + findings,
        "lines of tests": lines("tests"),
        "files": len(modules),
        "files with one importer": sum(count == 1 for count in importers.values()),
        "raises per 1,000 lines": round(1000 * raises / max(inside, 1)),
        "cycles": len(cycles(modules, own)),
        "imports upward": len(upward(modules)),
        "words of README.md": words("README.md"),
        "words of docs": words("docs/**/*.md"),
        "options": sum(bool(_names(function) & {"Option"}) for function in calls),
    }


def upward(modules: dict[str, Module]) -> list[str]:
    """The imports between boxes that point to a higher layer."""
    places = {box: place for place, box in enumerate(layer_order(modules))}
    edges = edges_between(modules, {name: box_of(module.folder) for name, module in modules.items()})
    return [f"{source} -> {target}" for source, target in edges if places[target] < places[source]]


def at_revision(root: Path, revision: str) -> dict[str, int]:
    """The totals of a revision of the repository at `root`."""
    packed = subprocess.run(["git", "archive", revision], cwd=root, capture_output=True, check=True).stdout
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        return totals(Path(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="root of the repository")
    parser.add_argument("--compare", metavar="REV", help="also the sizes of this revision, and the differences")
    args = parser.parse_args()
    before, now = at_revision(args.root, args.compare) if args.compare else {}, totals(args.root)
    for what, count in now.items():
        print(
            f"{what:28} {before[what]:8,} {count:8,} {count - before[what]:+8,}" if before else f"{what:28} {count:8,}"
        )


if __name__ == "__main__":
    main()
