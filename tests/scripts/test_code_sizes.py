"""Sizes, imports and cycles of a small tree."""

from pathlib import Path

import pytest

from scripts.code_sizes import box_of, cycles, edges_between, layer_order, read_modules, totals


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {
        "judge_r1/__init__.py": "",
        "judge_r1/core/__init__.py": "",
        "judge_r1/core/records.py": "class Pair: ...\n",
        "judge_r1/episode/__init__.py": "",
        "judge_r1/episode/task.py": "from judge_r1.core.records import Pair\nfrom ..models import engine\n",
        "judge_r1/models/__init__.py": "",
        "judge_r1/models/engine.py": "def late():\n    from judge_r1.episode import task\n",
        "data_builders/made.py": "from judge_r1.core.records import Pair\n\nclass Made:\n    pairs: list[Pair]\n",
        "retrieval/index.py": "import json\n",
    }
    write(tmp_path, files)
    return tmp_path


def test_imports_and_cycles(tree: Path) -> None:
    modules = read_modules(tree)
    edges = edges_between(modules, {name: box_of(module.folder) for name, module in modules.items()})
    assert dict(edges) == {
        ("judge_r1/episode", "judge_r1/core"): 1,
        ("judge_r1/episode", "judge_r1/models"): 1,
        ("judge_r1/models", "judge_r1/episode"): 1,
        ("data_builders", "judge_r1/core"): 1,
    }
    boxes = layer_order(modules)
    assert boxes == ["data_builders", "judge_r1", "judge_r1/episode", "judge_r1/models", "judge_r1/core", "retrieval"]
    assert cycles(boxes, edges) == [["judge_r1/episode", "judge_r1/models"]]


def test_totals_around_the_packages(tree: Path) -> None:
    files = {
        "README.md": "# A title\n",
        "docs/page.md": "three short words\n",
        "docs/experiments/one.md": "one\n",
        "tests/unit/test_a.py": "def test() -> None:\n    assert True\n",
        "scripts/a.py": "print()\n",
        "judge_r1/cli/a.py": "import typer\nA = typer.Option('--a')\nB = typer.Argument()\n",
    }
    write(tree, files)
    assert totals(tree) == {
        "lines of packages": 13, "lines of scripts": 1, "lines of findings": 0, "lines of product": 14,
        "lines of tests": 2, "files": 10, "files with one importer": 2, "raises per 1,000 lines": 0, "cycles": 1,
        "imports upward": 1, "words of README.md": 3, "words of docs": 4, "options": 1,
    }  # fmt: skip
