"""Draws the folders of a source tree and the imports between them as an SVG, and counts cycles.

    python scripts/draw_architecture.py --out docs/img/architecture.svg
    python scripts/draw_architecture.py --trace ReasoningPair,PairSet
    python scripts/draw_architecture.py --compare f21ca3fc       # a table of sizes: that revision and the working tree

Reads imports with `ast` and runs none of the code. A box is a folder of `retrieval`, `judge_r1` or `data_builders`,
sub-folders included. Boxes follow the order of the layers, the highest on top. Arcs on the right point down, as the
layers require. Red arcs on the left point up and break the order. Red boxes are part of a cycle.
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
    "judge_r1/evaluation", "judge_r1/rewards", "judge_r1/benchmarks", "judge_r1/judges", "judge_r1/episode",
    "judge_r1/models", "judge_r1/statistics", "judge_r1/client", "judge_r1/core", "retrieval",
]  # fmt: skip
"""The boxes from the top layer down."""


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


WIDTH, BOX, HEIGHT, GAP, LEFT = 1000, 370, 40, 18, 290
STYLE = (
    "text{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:15px;fill:#1f2933}"
    ".small{font-size:12px;fill:#52606d}.head{font-size:19px;font-weight:600}"
    "path{fill:none}.down{stroke:#8a97a6}.up{stroke:#d03b3b}"
)


def draw(title: str, boxes: list[str], modules: dict[str, Module], edges: Counter[tuple[str, str]]) -> str:
    """The SVG: a column of boxes, arcs down on the right and arcs up on the left."""
    tops = {box: 70 + place * (HEIGHT + GAP) for place, box in enumerate(boxes)}
    members = {box: [module for module in modules.values() if box_of(module.folder) == box] for box in boxes}
    cyclic = {box for component in cycles(boxes, edges) for box in component}
    bottom = 70 + len(boxes) * (HEIGHT + GAP)
    against = sum(1 for source, target in edges if tops[target] < tops[source])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 30}" role="img">',
        f"<title>{title}</title><style>{STYLE}</style>",
        '<defs><marker id="g" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto" '
        'markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z" style="fill:#8a97a6"/></marker>'
        '<marker id="r" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" orient="auto" '
        'markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z" style="fill:#d03b3b"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{bottom + 30}" fill="#ffffff"/>',
        f'<text class="head" x="{LEFT + BOX / 2}" y="34" text-anchor="middle">{title}</text>',
    ]
    outgoing: Counter[str] = Counter()
    incoming: Counter[str] = Counter()
    for (source, target), count in sorted(edges.items(), key=lambda edge: abs(tops[edge[0][0]] - tops[edge[0][1]])):
        down = tops[target] > tops[source]
        x = LEFT + BOX if down else LEFT
        start = tops[source] + 6 + (outgoing[source] * 7) % (HEIGHT - 12)
        end = tops[target] + 6 + (incoming[target] * 5) % (HEIGHT - 12)
        outgoing[source] += 1
        incoming[target] += 1
        reach = (24 + 0.42 * abs(end - start)) * (1 if down else -1)
        parts.append(
            f'<path class="{"down" if down else "up"}" stroke-width="{min(4.5, 0.8 + count**0.5 / 4):.1f}" '
            f'stroke-opacity="{0.55 if down else 0.75}" marker-end="url(#{"g" if down else "r"})" '
            f'd="M{x} {start:.0f}C{x + reach:.0f} {start:.0f} {x + reach:.0f} {end:.0f} {x} {end:.0f}">'
            f"<title>{source} → {target}: {count} imports</title></path>"
        )
    for box in boxes:
        fill, line = ("#fbe4e4", "#d03b3b") if box in cyclic else ("#e6f0fa", "#3a7ebf")
        lines = sum(module.lines for module in members[box])
        label = box if box != "judge_r1" else "judge_r1/*.py"
        parts.append(
            f'<rect x="{LEFT}" y="{tops[box]}" width="{BOX}" height="{HEIGHT}" rx="7" fill="{fill}" stroke="{line}"/>'
            f'<text x="{LEFT + 14}" y="{tops[box] + 25}">{label}</text>'
            f'<text class="small" x="{LEFT + BOX - 14}" y="{tops[box] + 25}" text-anchor="end">'
            f"{len(members[box])} module{'' if len(members[box]) == 1 else 's'}, {lines:,} lines</text>"
        )
    parts.append(
        f'<text class="small" x="{LEFT + BOX / 2}" y="{bottom + 14}" text-anchor="middle">'
        f"{len(edges) - against} arrows down, {against} up; "
        f"{len(cyclic)} of {len(boxes)} folders in a cycle</text></svg>"
    )
    return "\n".join(parts) + "\n"


def mentions(modules: dict[str, Module], names: set[str]) -> tuple[list[str], list[str]]:
    """(modules that use one of `names`, classes with a field of one of these types)."""
    using, classes = [], []
    for module in modules.values():
        nodes = list(ast.walk(module.tree))
        if any(names & _names(node) for node in nodes):
            using.append(module.name)
        for node in nodes:
            fields = node.body if isinstance(node, ast.ClassDef) else []
            annotations = [field.annotation for field in fields if isinstance(field, ast.AnnAssign)]
            if any(names & _names(part) for annotation in annotations for part in ast.walk(annotation)):
                classes.append(f"{module.name}.{node.name}" if isinstance(node, ast.ClassDef) else module.name)
    return using, classes


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
        "words of docs": words("docs/*.md"),
        "words of docs/experiments": words("docs/experiments/*.md"),
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
    parser.add_argument("--out", type=Path, help="the SVG to write")
    parser.add_argument("--title", default="Folders and their imports")
    parser.add_argument("--trace", default="", help="comma-separated types: list the modules and records that use them")
    parser.add_argument("--compare", metavar="REV", help="print the sizes of a revision and of the working tree")
    args = parser.parse_args()
    if args.compare:
        before, now = at_revision(args.root, args.compare), totals(args.root)
        for what, count in now.items():
            print(f"{what:28} {before[what]:8,} {count:8,} {count - before[what]:+8,}")
        return
    modules = read_modules(args.root)
    ordered = layer_order(modules)
    edges = edges_between(modules, {name: box_of(module.folder) for name, module in modules.items()})
    print(f"{len(modules)} modules, {sum(module.lines for module in modules.values()):,} lines")
    print(*(f"{count:,} {what}" for what, count in totals(args.root).items()), sep=", ")
    against = ", ".join(upward(modules)) or "none"
    print(f"{len(ordered)} folders, cycles: {_sizes(cycles(ordered, edges))}; upward: {against}")
    print(f"modules, cycles: {_sizes(cycles(modules, edges_between(modules, {name: name for name in modules})))}")
    folders = Counter(module.folder for module in modules.values())
    lines: Counter[str] = Counter()
    for module in modules.values():
        lines[module.folder] += module.lines
    for folder, count in sorted(folders.items()):
        print(f"{lines[folder]:7,} lines {count:4} modules  {folder}")
    if args.out:
        args.out.write_text(draw(args.title, ordered, modules, edges), encoding="utf-8")
    if args.trace:
        using, classes = mentions(modules, set(args.trace.split(",")))
        print(f"{args.trace}: {len(using)} modules, {len(classes)} classes with such a field")
        for name in [*using, *(f"class {name}" for name in classes)]:
            print(f"  {name}")


def _sizes(components: list[list[str]]) -> str:
    return "; ".join(f"{len(component)} ({', '.join(component)})" for component in components) or "none"


if __name__ == "__main__":
    main()
