"""The documentation names only commands, flags, modules, files and pages that exist."""

import csv
import importlib.util
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paths import REPO
from typer.main import get_command

from judge_r1.cli import app

AGAIN = REPO / "docs/experiments/again.sh"
PAGES = [
    *sorted((REPO / "docs").rglob("*.md")),
    REPO / "README.md",
    REPO / "CONTRIBUTING.md",
    REPO / "recipes/README.md",
]
TABLES = sorted((REPO / "docs").rglob("*.csv"))
ROOT = get_command(app)
FENCE = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"\b((?:tests|scripts|recipes|clusters|judge_r1|data_builders|docs)/[\w./-]*[\w/])")
MODULE = re.compile(r"`((?:judge_r1|data_builders|retrieval)(?:\.\w+)+)`")
LINK = re.compile(r"\]\(([\w./-]+)(?:#[\w-]+)?\)")


def commands(page: Path) -> Iterator[list[str]]:
    """The words of each `judge-r1` call in inline code, or in a code block up to a checkout of an earlier commit."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    if page == AGAIN:  # a function is as a block
        text = re.sub(r"^\w+\(\) \{|^\}$", "```", text, flags=re.MULTILINE)
    inline = re.findall(r"`(judge-r1 [^`\n]+)`", FENCE.sub("", text))
    lines = [line for block in FENCE.findall(text) for line in block.split("git checkout")[0].splitlines()]
    for line in [*inline, *lines]:
        for part in re.split(r" && |; |#(?= )", line):
            if call := re.search(r"(?:^|[^\w./'-])(judge-r1 .*)", part.strip()):
                call_text = call[1].split(" # ")[0].replace("…", "")
                try:
                    yield shlex.split(call_text)[1:]
                except ValueError:
                    yield call_text.split()[1:]


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """The command that `words` call, and the rest of the words. Behind `--` are those of another command."""
    command: Any = ROOT
    rest = words[: words.index("--")] if "--" in words else list(words)
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    return command, rest


@pytest.mark.parametrize("page", [*PAGES, AGAIN], ids=lambda page: page.name)
def test_commands_and_flags_exist(page: Path) -> None:
    for words in commands(page):
        command, rest = command_of(words)
        assert command is not ROOT or words[0].startswith(("-", "X", "COMMAND")), f"{page.name}: judge-r1 {words}"
        known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {"--help"}
        for word in rest:
            flag = word.strip("[](),.`").split("=")[0]
            assert not flag.startswith("-") or flag in known, f"{page.name}: {' '.join(words[:2])} has no {flag}"


@pytest.mark.parametrize("page", [*PAGES, *TABLES], ids=lambda page: page.name)
def test_modules_files_and_pages_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    prose = FENCE.sub("", text)
    for name in MODULE.findall(prose):
        assert _importable(name), f"{page.name}: {name}"
    example = set(re.findall(r"^# ([\w/]+\.py)$", text, re.MULTILINE))  # the first line of a block names its file
    example |= {
        f"judge_r1/{name}" for name in ("judged", "pairwise", "pairs", "episode", "verdict", "SPEC")
    }  # Inspect's
    example.add("judge_r1/direct")
    for name in set(FILE.findall(text)) - example:
        if "/data/" not in name:
            assert (REPO / name).exists(), f"{page.name}: {name}"
    for target in LINK.findall(prose):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_each_result_can_be_measured_again_and_names_its_table() -> None:
    results = (AGAIN.parent / "results.csv").read_text(encoding="utf-8")
    names = [name for row in csv.DictReader(results.splitlines()) for name in row["again"].split()]
    functions = re.findall(r"^(\w+)\(\) \{", AGAIN.read_text(encoding="utf-8"), re.MULTILINE)
    assert names == functions
    pages = results + "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [table.name for table in TABLES if table.parent == AGAIN.parent and table.name not in pages] == []


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_has_one_header_line_and_full_rows(table: Path) -> None:
    with table.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert "" not in head
    assert len(set(head)) == len(head)
    assert {len(row) for row in rows} == {len(head)}


def test_the_tests_that_show_a_surprise_exist() -> None:
    text = (AGAIN.parent / "surprises.csv").read_text(encoding="utf-8")
    shown = re.findall(r"(tests/[\w/]+\.py)::(\w+)", text)
    assert len(shown) > 20
    assert [name for file, name in shown if f"def {name}(" not in (REPO / file).read_text(encoding="utf-8")] == []


def _importable(name: str) -> bool:
    """Is `name` a module, or a public name of one?"""
    try:
        if importlib.util.find_spec(name):
            return True
    except ModuleNotFoundError:
        pass
    parent, _, member = name.rpartition(".")
    spec = importlib.util.find_spec(parent)
    return bool(spec and spec.origin and re.search(rf"\b{member}\b", Path(spec.origin).read_text(encoding="utf-8")))
