"""Describes a type of data set: its files, and how they are counted, checked, described and exported."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from data_builders.exports import AS_RECORDS, Format
from judge_r1.core.record_base import Record
from judge_r1.core.registry import UnknownName, suggest
from judge_r1.core.text_check import counted
from judge_r1.files.jsonl import AtomicFiles, dump_json, dump_line, read_jsonl
from judge_r1.files.strict_json import read_json
from judge_r1.training.recipe import Recipe

R = TypeVar("R", bound=Record)
E = TypeVar("E")
BUILD_FILE = "build.json"
"""The report of a build, beside its data."""


def read_report(path: Path) -> dict[str, Any]:
    """The JSON object of a build or split report; empty for any other JSON value."""
    report = read_json(path)
    return report if isinstance(report, dict) else {}


def write_files(out: Path, records: Mapping[str, Iterable[Record]], reports: Mapping[str, Any] | None = None) -> None:
    """Write files of records and of JSON objects, by name, into a folder: all or none."""
    reports = reports or {}
    with AtomicFiles(*(out / name for name in (*records, *reports))) as files:
        for name, rows in records.items():
            for row in rows:
                files.write(out / name, dump_line(row))
        for name, report in reports.items():
            files.write(out / name, dump_json(report))


@dataclass(frozen=True)
class RecordFile(Generic[R]):
    """A JSON Lines file of one record type.

    `noun` names a record in messages, `unique` its id field. `labels` maps a group of counts (`by_domain`) to the
    labels of a record in it. An optional file may be missing.
    """

    noun: str
    file: str
    record: type[R]
    unique: str
    labels: Callable[[R], Mapping[str, Iterable[str]]] = lambda record: {}
    optional: bool = False

    @property
    def plural(self) -> str:
        return f"{self.noun}s"

    def id_of(self, record: R) -> str:
        return str(getattr(record, self.unique))

    def read(self, folder: Path) -> Iterator[R]:
        """The records of the file in `folder`. Raises: BadRecord with file, line and field."""
        return read_jsonl(folder / self.file, self.record, unique=self.unique)


class RecordCounts:
    """Counts the records of one file, in total and by label. Holds sums only."""

    def __init__(self, file: RecordFile[Any]) -> None:
        self.file = file
        self.total = 0
        self._groups: dict[str, Counter[str]] = {}

    def add(self, record: Record) -> None:
        self.total += 1
        for group, labels in self.file.labels(record).items():
            self._groups.setdefault(group, Counter()).update(labels)

    def by_label(self) -> dict[str, dict[str, int]]:
        return {group: dict(sorted(counts.items())) for group, counts in self._groups.items()}


class Checker(Generic[R]):
    """Checks one folder. This base class parses every line and finds no further problems."""

    def __init__(self, dataset: "DatasetType[Any]", folder: Path) -> None:
        self._dataset, self._folder = dataset, folder

    def records(self) -> Iterator[R]:
        """The records of the main file. Raises: BadRecord for a line of any file that is no record."""
        for file in self._dataset.files:
            if file != self._dataset.main and not (file.optional and not (self._folder / file.file).exists()):
                for _ in file.read(self._folder):
                    pass
        yield from self._dataset.main.read(self._folder)

    def problems(self, record: R) -> Iterable[str]:
        """The reasons why a record is invalid."""
        return ()

    def checked(self) -> Sequence[str]:
        """What is checked of each record, besides its form."""
        return ()

    def passed(self) -> bool:
        """Whether the data set as a whole passes. Called after the last record."""
        return True

    def notes(self) -> Sequence[str]:
        """Lines about the data set as a whole. Called after the last record."""
        return ()


class ExampleStats(Generic[E]):
    """Counts the examples of one split for the dataset card: in total, by label, and what they are about."""

    def __init__(self, dataset: "DatasetType[E]") -> None:
        self.dataset = dataset
        self.total = self.a_better = 0
        self.counts = RecordCounts(dataset.main)
        self.about = set[str]()
        """The ids of the cases or documents."""
        self.sources: Counter[str] = Counter()
        self.licenses: Counter[str] = Counter()
        """Cases and documents, or without any the records themselves, by source and license."""

    def add(self, example: E) -> None:
        record, about = self.dataset.parts(example)
        self.total += 1
        self.a_better += getattr(record, "preferred", None) == "A"
        self.counts.add(record)
        if about is None:
            self._add_origin(record)
        elif (key := getattr(about, self.dataset.about[1])) not in self.about:
            self.about.add(key)
            self._add_origin(about)

    def _add_origin(self, record: Any) -> None:
        for name, counts in (("source", self.sources), ("license", self.licenses)):
            if value := getattr(record, name, None):
                counts[value] += 1

    def cells(self) -> Mapping[str, object]:
        """The split's row in the table of the card, by column: the total, and one column for each group of labels."""
        groups = self.counts.by_label().items()
        by_label = {group: ", ".join(f"{label} {n}" for label, n in counts.items()) for group, counts in groups}
        about = {f"{self.dataset.about[0]}s": len(self.about)} if self.about else {}
        return {**about, self.dataset.main.plural: self.total, **by_label}

    def placement(self) -> Sequence[Mapping[str, object]]:
        """Rows about which side of an example is better, for the card."""
        return ()

    def origins(self) -> Sequence[str]:
        """Lines for the section "How it was built"."""
        return ()

    def describe(self) -> str:
        """One phrase for the command line, for example `7 pairs of 2 cases`."""
        found = counted(self.total, self.dataset.main.noun.rpartition(" ")[2])
        return f"{found} of {counted(len(self.about), self.dataset.about[0])}" if self.about else found


class DatasetType(Generic[E]):
    """A type of data set. Subclasses set the class variables; every method has a default that fits plain records.

    `files` lists the files of a build. The first record of a group goes to the first file. `main` is the file that the
    data set is about. An example is what an export row is made of: a record of `main`, or that and the case or document
    that it is about. `about` has the noun of these and the name of their id.
    """

    files: ClassVar[tuple[RecordFile[Any], ...]]
    main: ClassVar[RecordFile[Any]]
    title: ClassVar[str]
    description: ClassVar[Sequence[str]] = ()
    table_note: ClassVar[str] = ""
    tags: ClassVar[Sequence[str]] = ()
    about: ClassVar[tuple[str, str]] = ("", "")
    fits_recipes: ClassVar[bool] = False
    """Whether `checker` checks a recipe, too."""

    def examples(self, folder: Path) -> Iterator[E]:
        """The examples of a folder, in order; by default the records of the main file."""
        return self.main.read(folder)

    def parts(self, example: E) -> tuple[Any, Any]:
        """The record of the main file of an example, and what it is about, or None."""
        return example if isinstance(example, tuple) else (example, None)

    def example_id(self, example: E) -> str:
        """The id of an example: that of its record."""
        return self.main.id_of(self.parts(example)[0])

    def checker(self, folder: Path, recipe: Recipe | None) -> Checker[Any]:
        """Checks a folder, and with `fits_recipes` whether it fits a recipe."""
        return Checker(self, folder)

    def stats(self) -> ExampleStats[Any]:
        """New statistics for one split."""
        return ExampleStats(self)

    def formats(self) -> Mapping[str, Format[E]]:
        """The export formats by name."""
        return {"jsonl": AS_RECORDS}

    def format(self, name: str) -> Format[E]:
        """An export format. Raises: UnknownName."""
        formats = self.formats()
        if name not in formats:
            raise UnknownName(f"no export format is named {name!r}{suggest(name, formats)}")
        return formats[name]
