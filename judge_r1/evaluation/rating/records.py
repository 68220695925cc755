"""The records of a rating: votes, judges, items, slices of the items, and breakdowns; and the reader of its files."""

from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from judge_r1.benchmarks.rankjudge.scoring import NamedTypes
from judge_r1.core.errors import JudgeError, invalid_as
from judge_r1.core.record_base import NonEmpty, Record
from judge_r1.files.digests import DIGEST, LinesDigest, value_digest
from judge_r1.files.jsonl import read_jsonl
from judge_r1.files.strict_json import read_json
from judge_r1.statistics.rating.separation import Stability

RATING, ITEMS = "rating.json", "items.jsonl"
Status = Literal["rated", "above", "below", "not comparable", "incomplete", "uninformative", "refused", "hardest"]
"""`above` and `below` are separated: no finite rating fits. The others say why an item was left out."""


Elo = Annotated[float, Field(ge=-1e6, le=1e6)]
"""No fit of votes reaches these bounds."""
Error = Annotated[float, Field(ge=0)]


class JudgeRating(Record):
    """A judge in a slice. `ci95` is ±1.96 of the sandwich error `se`; both are None if the votes show no spread.
    `accuracy` is over the items of the slice."""

    judge: NonEmpty
    status: Status
    elo: Elo | None
    se: Error | None
    ci95: tuple[float, float] | None
    accuracy: float = Field(ge=0, le=1)
    votes: int
    eip: float | None = None


class ItemRating(Record):
    """The difficulty of an item and its model-based error; `points` of `votes` is how many judges were right."""

    schema_: Literal[1] = Field(1, alias="schema")
    item: NonEmpty
    cluster: NonEmpty
    status: Status
    elo: Elo | None
    se: Error | None
    points: float = Field(ge=0)
    votes: float = Field(ge=0)
    labels: dict[str, str] = Field(default_factory=dict)


class RatedSlice(Record):
    """The ratings on one set of items. `dropped` counts the items that were left out, by reason. `bt_eip` are
    Spearman's rho and Kendall's tau between Bradley–Terry and EIP."""

    name: NonEmpty
    items: int
    judges: tuple[JudgeRating, ...]
    dropped: dict[str, int]
    converged: bool
    connected: bool
    bt_eip: tuple[float | None, float | None] | None = None
    note: str = ""


class Breakdown(Record):
    """The difficulty of the items with one value of a label."""

    label: str
    value: str
    items: int
    mean_elo: float
    median_elo: float


class ComparedJudge(Record):
    """A judge with a finite Elo in two ratings. Ranks count from 1 among these judges."""

    judge: NonEmpty
    elo: float
    other_elo: float
    rank: int
    other_rank: int


class Comparison(Record):
    """The agreement with another rating. `agree` are Spearman's rho and Kendall's tau over all judges of both, and
    `agree_without` those without the judges in `without`, such as the writers of the pairs."""

    other: NonEmpty
    judges: tuple[ComparedJudge, ...]
    agree: tuple[float | None, float | None]
    without: tuple[str, ...] = ()
    agree_without: tuple[float | None, float | None] | None = None


class Rating(Record):
    """The result of `judge-r1 rate`. The first slice holds all informative items, the second drops the hardest; then
    one slice for each group of the second. `slices_agree` are Spearman's rho and Kendall's tau between the first two.
    rating.json also holds the digest of this record and of items.jsonl.
    """

    schema_: Literal[2] = Field(2, alias="schema")
    options: dict[str, str | float | bool]
    slices: tuple[RatedSlice, ...]
    slices_agree: tuple[float | None, float | None]
    breakdowns: tuple[Breakdown, ...]
    stability: tuple[Stability, ...]
    invalid: dict[str, float]
    """Share of invalid answers of each judge."""
    tokens: dict[str, float] = Field(default_factory=dict)
    """Mean written tokens per item, of the judges whose tokens are known."""
    front: tuple[str, ...] = ()
    """The judges that no other one beats with at most as many tokens, the cheapest first."""
    usd: dict[str, float] = Field(default_factory=dict)
    """Mean cost of a match in USD by the prices of `prices_date`, of the judges with a price and known tokens."""
    usd_front: tuple[str, ...] = ()
    """As `front`, by cost."""
    prices_date: str = ""
    types: dict[str, dict[str, dict[str, int]]] = Field(default_factory=dict)
    """Of judges of conversations: gold type -> named type -> votes."""
    writers: tuple[str, ...] = ()
    """The judges whose model wrote conversations that they judge."""
    compared: Comparison | None = None
    notes: tuple[str, ...] = ()
    """What is left out of logs."""


Criterion = Literal["score", "side+round", "side"]
"""What must be right: everything, as the benchmark scores it; of conversations only the better side and the flawed
round, or only the side."""
GROUP, WRITER = "group", "generator"
"""Labels of an item: its group, such as a domain, and who wrote it."""


class RatedVote(NamedTuple):
    """One answer. `score` is None for an invalid one; `labels` describe the item, such as its group. `types` counts
    (gold type, named type) of a judge of conversations."""

    judge: str
    item: str
    score: float | None
    cluster: str
    labels: dict[str, str]
    tokens: float | None = None
    types: NamedTypes = MappingProxyType({})
    read: float | None = None


def text_fields(gold: Any) -> dict[str, str]:
    """The labels in a gold that is a mapping, such as the failure type of a pair of conversations."""
    return {str(k): v for k, v in gold.items() if isinstance(v, str)} if isinstance(gold, dict) else {}


def digested(rating: Rating, items: LinesDigest) -> dict[str, Any]:
    """The content of rating.json, with the digest of a rating and of the lines of items.jsonl."""
    content = rating.model_dump(mode="json", by_alias=True)
    # Ratings without prices look like those of earlier versions.
    content = {
        name: value for name, value in content.items() if value or name not in ("usd", "usd_front", "prices_date")
    }
    return content | {DIGEST: value_digest([content, items.text])}


def read_rating(folder: Path) -> Rating:
    """The rating in a folder of `judge-r1 rate`.

    Raises:
        JudgeError: A file is missing, is of another schema, or was changed.
    """
    path = folder / RATING
    content = read_json(path)
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != 2:
        raise JudgeError(f"{path} is no rating of this version, whose `schema` is 2: rate again")
    digest = content.pop(DIGEST, None)
    with invalid_as(JudgeError, path):
        rating = Rating.model_validate(content)
    if digest != digested(rating, LinesDigest.of(folder / ITEMS))[DIGEST]:
        raise JudgeError(f"{path} or {ITEMS} beside it was changed after `judge-r1 rate` wrote both: rate again")
    return rating


def read_items(folder: Path) -> list[ItemRating]:
    """The items of a rating. Raises: JudgeError, as `read_rating` does."""
    items = list(read_jsonl(folder / ITEMS, ItemRating, unique="item"))
    read_rating(folder)
    return items
