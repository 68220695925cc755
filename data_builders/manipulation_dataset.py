"""The data set of documents and their manipulated copies: its files, counts, checks and export formats."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from data_builders.dataset_type import Checker, DatasetType, ExampleStats, RecordFile
from data_builders.exports import Format, single
from data_builders.manipulations import MANIPULATIONS
from judge_r1.benchmarks.base import place_by_hash
from judge_r1.core.documents import (
    DOCUMENTS_FILE,
    MANIPULATIONS_FILE,
    Document,
    ManipulatedDocument,
    changed_outside,
)
from judge_r1.training.recipe import Recipe

PRINCIPLES = {"logical flow": (1,), "plot": (2,), "anaphora": (5,), "grammar": (5,)}
"""The principle of LRBench that each category of manipulations comes nearest to."""
FOREIGN = {"exchange_content": (1, 4), "insert_content": (1, 4)}
"""Those with text of other documents, which are not grounded either."""


class ManipulationExample(NamedTuple):
    """A manipulated document and its original."""

    manipulated: ManipulatedDocument
    document: Document


def _labels(record: ManipulatedDocument) -> Mapping[str, Iterable[str]]:
    return {"by_manipulation": [record.name], "by_metric": [record.metric], "by_length": [record.length]}


DOCUMENT_FILE = RecordFile("document", DOCUMENTS_FILE, Document, "document_id")
MANIPULATION_FILE = RecordFile("manipulation", MANIPULATIONS_FILE, ManipulatedDocument, "manipulation_id", _labels)


class ManipulationChecker(Checker[ManipulatedDocument]):
    """Checks every manipulation against its document."""

    def __init__(self, dataset: "ManipulationDataset", folder: Path) -> None:
        super().__init__(dataset, folder)
        self._documents = read_documents(folder)

    def problems(self, record: ManipulatedDocument) -> Iterable[str]:
        document = self._documents.get(record.document_id)
        if document is None:
            yield "its document is missing"
        elif (document.base_id, document.length) != (record.base_id, record.length):
            yield "base_id and length differ from those of its document"
        elif changed_outside(document.text, record.text, record.spans):
            yield "the text changed outside of the spans"
        if record.name in MANIPULATIONS.names():
            operator = MANIPULATIONS.get(record.name)
            if (operator.number, operator.metric, operator.category) != (record.number, record.metric, record.category):
                yield f"its number, metric or category is not that of {record.name}"

    def checked(self) -> Sequence[str]:
        return (
            "its document is there",
            "its text differs from it in the spans alone",
            "its labels are those of its name",
        )


class ManipulationStats(ExampleStats[ManipulationExample]):
    """Counts of one split."""

    def origins(self) -> list[str]:
        found = ", ".join(f"{source} {count}" for source, count in sorted(self.sources.items()))
        return [f"Documents: {found}.", "Manipulations: rules of judge_r1."]


class ManipulationDataset(DatasetType[ManipulationExample]):
    """Documents at several lengths, and manipulations of them."""

    files = (DOCUMENT_FILE, MANIPULATION_FILE)
    main = MANIPULATION_FILE
    title = "Manipulated long documents for judges"
    description = ("Long documents, and copies of them that are worse in a known way, in fluency or in coherence.",)
    tags = ("llm-as-a-judge", "long-context")
    about = ("document", "base_id")

    def examples(self, folder: Path) -> Iterator[ManipulationExample]:
        documents = read_documents(folder)
        for record in self.main.read(folder):
            yield ManipulationExample(record, documents[record.document_id])

    def checker(self, folder: Path, recipe: Recipe | None) -> ManipulationChecker:
        return ManipulationChecker(self, folder)

    def stats(self) -> ManipulationStats:
        return ManipulationStats(self)

    def formats(self) -> Mapping[str, Format[ManipulationExample]]:
        return {
            "jsonl": single(
                "the manipulations as they are, with the original text",
                lambda options: ["`original` is the text that the spans refer to."],
                manipulations=_record_row,
            ),
            "pairs": single(
                "pairs of the original and a manipulated document, in random order",
                lambda options: [
                    "`violated` names the metric that the worse document is degraded in; `principles` are the nearest "
                    "principles of LRBench."
                ],
                pairs=_pair_row,
            ),
        }


def read_documents(folder: Path) -> dict[str, Document]:
    """The documents of a folder by id."""
    return {document.document_id: document for document in DOCUMENT_FILE.read(folder)}


def _record_row(example: ManipulationExample, index: int, split: str) -> dict[str, Any]:
    return example.manipulated.model_dump(mode="json", by_alias=True) | {"original": example.document.text}


def _pair_row(example: ManipulationExample, index: int, split: str) -> dict[str, Any]:
    record, document = example
    (first, second), preferred = place_by_hash(record.manipulation_id, document.text, record.text)
    return {
        "pair_id": record.manipulation_id,
        "document_a": first,
        "document_b": second,
        "preferred": preferred,
        "violated": [record.metric],
        "principles": list(FOREIGN.get(record.name, PRINCIPLES[record.category])),
        "manipulation": record.name,
        "length": record.length,
        "document_id": record.base_id,
    }
