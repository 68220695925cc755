"""A query of LongJudgeBench, and readers for the lines of the release's files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.core.items import Item
from judge_r1.files.jsonl import read_jsonl

LETTERS = "ABCD"
Protocol = Literal["pointwise", "pairwise", "listwise"]


@dataclass(frozen=True)
class Column:
    """A column of the paper's tables: its data set and its protocol.

    A judge with search is asked `question`; the other settings use the release's prompts, whose file names begin with
    `prompt_prefix`. `prompt_has_task` is false if these prompts leave the task out.
    """

    dataset: str
    protocol: Protocol
    question: str
    prompt_prefix: str = ""
    prompt_has_task: bool = True


COLUMNS: Mapping[str, Column] = {
    "DR": Column("deepresearch_bench", "pointwise",
        question="Which research article answers the task better?"),
    "RealDR": Column("realdr", "pointwise", prompt_has_task=False,
        question="Which report is better in logical structure, in expression and in freedom from bias?"),
    "Structure": Column("surge", "listwise", prompt_prefix="structure_", prompt_has_task=False,
        question="Which survey of the topic is better structured: organisation, sections, titles that fit, coherence?"),
    "Content": Column("surge", "listwise", prompt_prefix="content_", prompt_has_task=False,
        question="Which survey of the topic reads better: coherence, clarity, fluency, logic?"),
    "WP": Column("wp_bench", "pairwise",
        question="Which piece of writing answers the prompt better?"),
    "Verify": Column("verify_bench_hard", "pointwise",
        question="Is the final answer that the model gives, marked [A] in the case, correct?"),
    "MA": Column("ma", "pairwise", prompt_prefix="insights_", prompt_has_task=False,
        question="Which report presents the key findings of the meta-analysis more accurately and completely?"),
}  # fmt: skip
"""Structure and Content are one data set, SurGE."""


@dataclass(frozen=True)
class Query:
    """The outputs for one task and their gold.

    `gold` is "A", "B" or "tie" for two outputs, "Yes" or "No" for one, or a score per output (higher is better). `ids`
    and `systems` name the outputs in the release's judge-output lines. Missing texts are None. `weights` and `criteria`
    belong to rubrics. `rating` is MA's mean of eight annotators (0–4, 2 is a tie). `first` is the system that the files
    list first.
    """

    column: str
    query_id: str
    cluster_id: str
    instruction: str
    systems: tuple[str, ...]
    ids: tuple[str, ...]
    texts: tuple[str | None, ...]
    gold: str | tuple[float, ...]
    reference: str | None = None
    weights: tuple[Mapping[str, float], ...] = ()
    criteria: "Mapping[str, Sequence[Criterion]]" = field(default_factory=dict)
    criteria_text: str = ""
    rating: float | None = None
    tag: str | None = None
    annotators: tuple[tuple[float, ...], ...] = ()
    first: str = ""

    @property
    def dataset(self) -> str:
        return COLUMNS[self.column].dataset

    @property
    def protocol(self) -> Protocol:
        return COLUMNS[self.column].protocol

    @property
    def item_id(self) -> str:
        named = f"surge:{self.column.lower()}" if self.protocol == "listwise" else self.dataset
        return f"{named}:{self.query_id}"


@dataclass(frozen=True)
class Criterion:
    """One criterion of DR-Bench's rubric. The weights of a dimension sum to 1."""

    name: str
    explanation: str
    weight: float


def scored_indices(query: Query, reference: bool) -> tuple[int, ...]:
    """The outputs to score: all, except SurGE's first one if it is shown as the reference."""
    return tuple(range(int(query.protocol == "listwise" and reference), len(query.systems)))


def with_available_texts(query: Query) -> Query | None:
    """The query reduced to the outputs with texts, or None if it cannot be judged.

    Pairs and listings must be complete; separately scored outputs need two with different gold scores."""
    from judge_r1.statistics.correlation import pair_accuracy

    selected = [index for index, text in enumerate(query.texts) if text is not None]
    if len(selected) == len(query.texts):
        return query
    if isinstance(query.gold, str) or query.protocol == "listwise" or len(selected) < 2:
        return None
    gold = tuple(query.gold[index] for index in selected)
    if not pair_accuracy(gold, gold).pairs:
        return None

    def select(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(values[index] for index in selected) if values else ()

    return replace(
        query,
        systems=select(query.systems),
        ids=select(query.ids),
        texts=select(query.texts),
        gold=gold,
        weights=select(query.weights),
        annotators=tuple(select(scores) for scores in query.annotators),
    )


def item_of(query: Query, *, reference: bool, search: bool = False) -> Item:
    """Converts a query to an item. System names replace missing texts. The gold of scored outputs is `{"systems",
    "scores", "judged"}`. With `search`, verifying one output becomes a choice between two statements."""
    candidates = tuple(
        text if text is not None else name for text, name in zip(query.texts, query.systems, strict=True)
    )
    gold: Any = query.gold
    if not isinstance(query.gold, str):
        indices = scored_indices(query, reference)
        gold = {"systems": list(query.systems), "scores": list(query.gold), "judged": list(indices)}
    return Item(
        item_id=query.item_id,
        cluster_id=f"{query.dataset}:{query.cluster_id}",
        group=query.column,
        instruction=query.instruction,
        candidates=STATEMENTS if search and query.column == "Verify" else candidates,
        gold=gold,
    )


STATEMENTS = ("The model's final answer is correct.", "The model's final answer is not correct.")
"""The candidates if a single answer is verified with search. The first means Yes."""


GROUND_TRUTH, STANDARDIZED = "ground_truth", "data_standardized"
M = TypeVar("M", bound="Line")
_AS_TEXT = BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)
Id = Annotated[str, _AS_TEXT, Field(pattern=r"^[\w.:-]{1,200}$")]
"""Some files have numbers as ids, others strings."""
FileId = Annotated[str, _AS_TEXT, Field(pattern=r"^[\w-]{1,100}$")]
"""An id that is also the name of a file or folder."""


class Line(BaseModel):
    """Base of the line models."""

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
    """Reads a JSON Lines file. Raises the errors of `read_jsonl`, and BadBenchmark if the file is missing."""
    if not path.exists():
        raise BadBenchmark(f"{path} is missing: point --path at a checkout of LongJudgeBench that has this file")
    return read_jsonl(path, model, unique="id" if unique else None)


def outputs(root: Path, dataset: str) -> dict[str, Output] | None:
    """The outputs by id, or None without a standardised file. Public snapshots lack the files over 4 MiB."""
    path = root / STANDARDIZED / f"{dataset}.jsonl"
    return {line.id: line for line in lines(path, Output)} if path.exists() else None


def references(root: Path, dataset: str) -> dict[str, str]:
    return {line.id: line.reference for line in lines(root / STANDARDIZED / f"{dataset}_reference.jsonl", Reference)}
