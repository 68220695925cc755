"""A generator of something that is not a pair: manipulated documents, in one new file.

The file is dropped into the package of generators, as a user would add it. Everything else is the code that pairs use:
writing, counting, validation, dataset card and export.
"""

import json
import subprocess
from pathlib import Path

import command_server
import pytest
import yaml
from fake_llm_server import FakeLLMServer

GENERATOR = '''
"""Documents with one sentence rewritten by a teacher."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from data_builders.dataset_type import Checker, DatasetType, RecordFile
from data_builders.exports import AS_RECORDS, Format
from data_builders.generators import register
from data_builders.generators.base import Generator, RecordGroup
from data_builders.teachers import TeacherRequest
from judge_r1.core.records import Record, content_hash


class Document(Record):
    document_id: str
    text: str


class Manipulation(Record):
    manipulation_id: str
    document_id: str
    operator: str
    start: int
    end: int
    text: str


def labels(manipulation: Manipulation) -> Mapping[str, Iterable[str]]:
    return {"by_operator": [manipulation.operator], "by_length": ["short" if len(manipulation.text) < 80 else "long"]}


class ManipulationChecker(Checker[Manipulation]):
    def problems(self, record: Manipulation) -> Iterable[str]:
        if not 0 <= record.start < record.end <= len(record.text):
            yield "its span ends outside the text"


class Manipulations(DatasetType[Manipulation]):
    files = (
        RecordFile("document", "documents.jsonl", Document, "document_id"),
        RecordFile("manipulation", "manipulations.jsonl", Manipulation, "manipulation_id", labels),
    )
    main = files[1]
    title = "Manipulated documents"
    description = ("Documents with one sentence rewritten.",)
    tags = ("llm-as-a-judge",)

    def checker(self, folder: Any, recipe: Any) -> ManipulationChecker:
        return ManipulationChecker(self, folder)

    def formats(self) -> Mapping[str, Format[Manipulation]]:
        rows = lambda options: {"edits": lambda record, index, split: {"text": record.text, "label": record.operator}}
        return {"jsonl": AS_RECORDS, "edits": Format("text, label", rows, lambda options: ["One edit a row."])}


@register
class ManipulateDocuments(Generator[str]):
    """Documents with one sentence rewritten by a teacher."""

    name = "manipulated-documents"
    dataset = Manipulations()
    needs_teacher = True

    def items(self) -> Iterator[str]:
        for line in self.plan.path.read_text().splitlines()[: self.plan.limit]:
            if line.strip():
                yield line
            else:
                self.skipped["empty line"] += 1

    async def generate(self, item: str) -> RecordGroup:
        document = Document(document_id=content_hash(item), text=item)
        records: list[Record] = [document]
        for operator in ("negate", "overstate"):
            request = TeacherRequest(system=operator, user=item, max_tokens=100)
            sentence = (await self.teachers[0].ask(request)).text
            records.append(
                Manipulation(
                    manipulation_id=content_hash(document.document_id, operator, sentence),
                    document_id=document.document_id,
                    operator=operator,
                    start=len(item) + 1,
                    end=len(item) + 1 + len(sentence),
                    text=f"{item} {sentence}",
                )
            )
        return RecordGroup(records)
'''
RUN = """
import sys
import data_builders.generators
data_builders.generators.__path__.append(sys.argv.pop(1))
data_builders.generators.GENERATORS._loaded = False  # the command server has looked for generators before
from judge_r1.cli import main
main()
"""
DATA = ("documents.jsonl", "manipulations.jsonl", "build.json")


def rewrite(system: str, user: str, sample: int) -> str:
    return f"{system.title()}: {user.split()[0].lower()} is wrong."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generator file and its input: 30 distinct documents, an empty line and a duplicate."""
    home = tmp_path_factory.mktemp("custom")
    (home / "plugin").mkdir()
    (home / "plugin" / "manipulated_documents.py").write_text(GENERATOR)
    lines = [f"Report{n} says that the bridge {'holds ' * (n % 5 + 1)}in winter." for n in range(30)]
    (home / "documents.txt").write_text("\n".join([*lines, "", lines[3]]) + "\n")
    return home


def command(folder: Path, *arguments: object) -> list[str]:
    return [str(folder / "plugin"), *map(str, arguments)]


def build_command(folder: Path, server: FakeLLMServer, out: Path) -> list[str]:
    source = ("build", "manipulated-documents", f"path={folder / 'documents.txt'}")
    return command(folder, *source, f"teacher={server.chat}", "concurrency=2", "--out", out)


def run(
    command: list[str], server: FakeLLMServer | None = None, *, status: int = 0
) -> subprocess.CompletedProcess[str]:
    done = command_server.run(*command, code=RUN, env=server.environment if server else {})
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture(scope="module")
def built(folder: Path) -> Path:
    """An uninterrupted build."""
    with FakeLLMServer(rewrite) as server:
        shown = run(build_command(folder, server, folder / "built"), server).stdout
    assert "60 manipulations of 30 documents" in " ".join(shown.split())
    assert "documents skipped: 2" in shown
    return folder / "built"


def test_build_counts_its_records(built: Path) -> None:
    assert json.loads((built / "build.json").read_text()) == {
        "generator": "manipulated-documents",
        "seed": 0,
        "documents": 30,
        "manipulations": 60,
        "by_operator": {"negate": 30, "overstate": 30},
        "by_length": json.loads((built / "build.json").read_text())["by_length"],
        "skipped_documents": {"empty line": 1, "manipulated-documents: the same document again": 1},
        "abstained": {},
    }
    assert len((built / "manipulations.jsonl").read_text().splitlines()) == 60


def test_validation_reports_the_invalid_record(folder: Path, built: Path, tmp_path: Path) -> None:
    assert "60 of 60 manipulations are valid (100.0%)" in run(command(folder, "validate", built)).stdout
    for name in DATA:
        (tmp_path / name).write_bytes((built / name).read_bytes())
    lines = (built / "manipulations.jsonl").read_text().splitlines()
    lines[6] = json.dumps({**json.loads(lines[6]), "end": 999})
    (tmp_path / "manipulations.jsonl").write_text("\n".join(lines) + "\n")
    failed = run(command(folder, "validate", tmp_path), status=1).stdout
    assert "59 of 60 manipulations are valid" in failed
    assert (
        f"1 x its span ends outside the text, for example manipulation {json.loads(lines[6])['manipulation_id']}"
        in failed
    )
    lines[6] = json.dumps({**json.loads(lines[6]), "end": "soon"})
    (tmp_path / "manipulations.jsonl").write_text("\n".join(lines) + "\n")
    broken = run(command(folder, "validate", tmp_path), status=2).stderr
    assert f"{tmp_path / 'manipulations.jsonl'}, line 7: field end: " in broken


def test_exports_have_a_dataset_card(folder: Path, built: Path, tmp_path: Path) -> None:
    shown = run(command(folder, "export", built, "--format", "edits", "--out", tmp_path / "edits")).stdout
    assert "train: 60 manipulations in" in shown
    rows = [json.loads(line) for line in (tmp_path / "edits" / "train.jsonl").read_text().splitlines()]
    assert len(rows) == 60
    assert set(rows[0]) == {"text", "label"}
    _, head, body = (tmp_path / "edits" / "README.md").read_text().split("---\n", 2)
    assert yaml.safe_load(head)["pretty_name"] == "Manipulated documents (edits)"
    assert "| split | manipulations | by_operator | by_length |" in body
    assert "| train | 60 | negate 30, overstate 30 |" in body
    assert "One edit a row." in body
    run(command(folder, "export", built, "--format", "jsonl", "--out", tmp_path / "records"))
    assert (tmp_path / "records" / "train.jsonl").read_bytes() == (built / "manipulations.jsonl").read_bytes()
    refused = run(command(folder, "export", built, "--format", "edit", "--out", tmp_path / "x"), status=2).stderr
    assert "no export format is named 'edit'; did you mean 'edits'?" in refused
