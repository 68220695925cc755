"""One query of LongJudgeBench, and the lines of the release's files that queries are read from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from judge_r1.benchmarks.base import BadBenchmark, Order
from judge_r1.core.items import Item
from judge_r1.core.jsonl import read_jsonl
from judge_r1.statistics.correlation import pair_accuracy

LETTERS = "ABCD"
COLUMNS = ("DR", "RealDR", "Structure", "Content", "WP", "Verify", "MA")
"""Of the paper's tables; the two in the middle are one set, SurGE."""


@dataclass(frozen=True)
class Query:
    """`gold` is "A", "B" or "tie" of two outputs, "Yes" or "No" of one, or a score for each, higher is better.

    `ids` and `systems` say of each output how the release's judge-output lines name it. A text that the files lack is
    None. `weights` and `criteria` belong to rubrics, `rating` is MA's mean of eight annotators (0–4, 2 is a tie).
    `first` is the output that the files hold first.
    """

    dataset: str
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
    def item_id(self) -> str:
        named = f"surge:{self.column.lower()}" if self.dataset == "surge" else self.dataset
        return f"{named}:{self.query_id}"


@dataclass(frozen=True)
class Criterion:
    """One line of DR-Bench's rubric. Weights of a dimension sum to 1."""

    name: str
    explanation: str
    weight: float


def judged(query: Query, reference: bool) -> tuple[int, ...]:
    """The outputs that are scored: all, but SurGE's first is the reference itself where one is shown."""
    return tuple(range(1 if query.dataset == "surge" and reference else 0, len(query.systems)))


def present(query: Query) -> Query | None:
    """The query with the outputs whose texts are there; None where too few are, or the gold orders no two of them.

    A pair or a listing must be whole; of outputs scored one by one, two that differ in the gold are a pair."""
    kept = [place for place, text in enumerate(query.texts) if text is not None]
    if len(kept) == len(query.texts):
        return query
    if isinstance(query.gold, str) or query.dataset == "surge" or len(kept) < 2:
        return None
    gold = tuple(query.gold[place] for place in kept)
    if not pair_accuracy(gold, gold).pairs:
        return None

    def of(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(values[place] for place in kept) if values else ()

    return replace(
        query,
        systems=of(query.systems),
        ids=of(query.ids),
        texts=of(query.texts),
        gold=gold,
        weights=of(query.weights),
        annotators=tuple(of(one) for one in query.annotators),
    )


def item_of(query: Query, *, reference: bool, search: bool = False) -> Item:
    """The query as an item; without texts its candidates are named by their systems. The gold of several scored
    outputs is `{"systems", "scores", "judged"}`; of one output it is Yes or No, and to be searched it becomes a choice
    between two statements."""
    candidates = tuple(
        text if text is not None else name for text, name in zip(query.texts, query.systems, strict=True)
    )
    gold: Any = query.gold
    if not isinstance(query.gold, str):
        places = judged(query, reference)
        gold = {"systems": list(query.systems), "scores": list(query.gold), "judged": list(places)}
    return Item(
        item_id=query.item_id,
        cluster_id=f"{query.dataset}:{query.cluster_id}",
        group=query.column,
        instruction=query.instruction,
        candidates=STATEMENTS if search and query.column == "Verify" else candidates,
        gold=gold,
    )


STATEMENTS = ("The model's final answer is correct.", "The model's final answer is not correct.")
"""What is compared where a single answer is verified by search; the first means Yes."""


def shown_places(order: Order, scores: int) -> Order:
    """The candidates that `scores` scores are about: the last of those shown."""
    return order[len(order) - scores :]


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
    """Reads a file with `read_jsonl`. Raises BadBenchmark if it does not exist, BadRecord for an invalid line."""
    if not path.exists():
        raise BadBenchmark(f"{path} is not there: point --path at a checkout of LongJudgeBench with that file in it")
    return read_jsonl(path, model, unique="id" if unique else None)


def outputs(root: Path, dataset: str) -> dict[str, Output] | None:
    """By id, where the standardised file is there; the snapshots in circulation lack those over 4 MiB."""
    path = root / STANDARDIZED / f"{dataset}.jsonl"
    return {line.id: line for line in lines(path, Output)} if path.exists() else None


def references(root: Path, dataset: str) -> dict[str, str]:
    return {line.id: line.reference for line in lines(root / STANDARDIZED / f"{dataset}_reference.jsonl", Reference)}
