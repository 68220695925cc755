"""The release's files, line by line: what we need of a line, checked; what else stands there is passed over."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.core.jsonl import read_jsonl

GROUND_TRUTH, STANDARDIZED = "ground_truth", "data_standardized"
M = TypeVar("M", bound="Line")
Id = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)]
"""Ids are numbers in some files and strings in others."""


class Line(BaseModel):
    """Base of the lines."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    id: Id


class Response(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    model: str
    content: str


class Output(Line):
    """A line of `data_standardized/SET.jsonl`."""

    instruction: str
    responses: tuple[Response, ...]

    @property
    def by_system(self) -> dict[str, str]:
        return {response.model: response.content for response in self.responses}


class Reference(Line):
    reference: str


def lines(path: Path, model: type[M], *, unique: bool = True) -> Iterator[M]:
    """Errors: what `read_jsonl` says of a line, BadBenchmark where there is no such file."""
    if not path.exists():
        raise BadBenchmark(f"{path} is not there: point --path at a checkout of LongJudgeBench with that file in it")
    return read_jsonl(path, model, unique="id" if unique else None)


def outputs(root: Path, dataset: str) -> dict[str, Output] | None:
    """By id, where the standardised file is there; the snapshots in circulation lack those over 4 MiB."""
    path = root / STANDARDIZED / f"{dataset}.jsonl"
    return {line.id: line for line in lines(path, Output)} if path.exists() else None


def references(root: Path, dataset: str) -> dict[str, str]:
    return {line.id: line.reference for line in lines(root / STANDARDIZED / f"{dataset}_reference.jsonl", Reference)}
