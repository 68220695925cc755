"""The benchmark interface: a benchmark reads items from its original files, defines the requests to a judge and
aggregates the votes.

A new one is a module that ends in `BENCHMARKS.register(name)(Benchmark(about, path, load))`, in this package or named
by an entry point (`judge_r1.core.registry`). `load` may return `LoadedBenchmark(items)` alone: each rule has a default,
by the number of candidates that it shows at once.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from judge_r1.benchmarks.aggregation import aggregate_votes, check_gold
from judge_r1.benchmarks.pointwise import best_question, rating_question
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.principles import GENERAL
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import ReasoningPair
from judge_r1.core.registry import Registry, nearest
from judge_r1.episode.task import PairwiseTask
from judge_r1.files.arrays.positions import LazySequence, Places
from judge_r1.files.yaml_config import ConfigModel, validated
from judge_r1.judges.request import CustomPrompt, JudgeRequest, RequestKey, TokenLimits

if TYPE_CHECKING:
    from judge_r1.files.arrays.id_table import IdTable

M = TypeVar("M", bound=ConfigModel)
Order = tuple[int, ...]
Table = dict[str, dict[str, float | None]]
"""Values by row and column."""
Tables = dict[str, Table]
"""Tables by title."""
Pins = Mapping[str, str | Mapping[str, str]]
"""Pins by name. One with several parts gives their values by part."""

IN_PATH = "in --path"
"""The metric of published outputs about items that the benchmark's files lack: the share that they hold."""


class BadBenchmark(JudgeError):
    """The benchmark's files are missing, incomplete or malformed."""


def subset_options(model: type[M], subset: str | None, where: str) -> M:
    """The text of `--subset` as options: `PART,key=value`, in any order. The words without `=` are its `parts`.

    Raises:
        BadBenchmark: A word has no value, and is no part.
        ConfigError: A part, a key or a value is not valid, or options exclude each other.
    """
    words = [word for part in (subset or "").split(",") if (word := part.strip())]
    parts = [word for word in words if "=" not in word and "parts" in model.model_fields]
    for word in words:
        if word not in parts and not word.partition("=")[2]:
            key = nearest(word, model.model_fields) or "|".join(model.model_fields)
            raise BadBenchmark(f"{where} takes key=value, not {word[:40]!r}: write {key}=VALUE")
    keys = [word.partition("=")[0].strip() for word in words if word not in parts]
    if repeated := next((key for key in keys if keys.count(key) > 1), None):
        raise BadBenchmark(f"{where} has {repeated!r} twice: give it once")
    return validated(model, {"parts": parts} if parts else {}, [word for word in words if word not in parts], where)


def option_names(model: type[ConfigModel]) -> str:
    """The keys of `--subset`, for `judge-r1 benchmarks`."""
    return ", ".join(f"{name}=…" for name in model.model_fields if name != "parts")


def pairwise_request(item: Item, order: Order) -> PairwiseTask:
    """Compares two candidates of an item that has no case to search."""
    first, second = (item.texts[index] for index in order)
    return PairwiseTask(GENERAL, item.instruction, first, second)


def default_task(item: Item, order: Order) -> PairwiseTask | CustomPrompt:
    """Compares two candidates, rates a single one from 1 to 10, or asks for the best of several."""
    if len(order) == 2:
        return pairwise_request(item, order)
    if len(order) == 1:
        return rating_question(item.instruction, item.texts[order[0]])
    return best_question(item.instruction, [item.texts[index] for index in order])


def one_order(item: Item) -> Sequence[Order]:
    return [(0, 1)]


def both_orders(item: Item) -> Sequence[Order]:
    return [(0, 1), (1, 0)]


@dataclass(frozen=True)
class LoadedBenchmark:
    """The items of a benchmark and its rules.

    `task(item, order)` is the task with the candidates shown in that order, `presentation_orders(item)` the orders in
    which an item is judged, and `aggregate(item, votes)` combines the votes into one verdict. `texts` may be searched,
    by case id. `metrics` adds the benchmark's own metrics to a summary. `baselines` are results that its files
    determine without a judge. `labels` holds the labelled pair of each item whose violated principles are known.
    `limits` are the benchmark's own token limits. `counts(gold)` says whether items with this gold count in the
    accuracy; all items count in `metrics`.
    `tables` are shown in the report for each judge, and `joint_tables`, from the results by judge, once for several
    judges. `pins` names what scores depend on besides the judge and the items,
    such as the hash of a weights file: `judge-r1 report` and `judge-r1 rate` refuse evaluations with other pins.
    `rates_texts`: the score of an item says how good its text is, and not whether the judge is right, so that no judge
    is better for a higher one. `notes` are sentences that the tables of the results need, such as what was left out.
    `strata`: of a part of the items, equally many are taken of each stratum; by default of each group and its systems.
    `published` gives the results in the benchmark's own format, as rows by file name; they are written to
    `judgements/JUDGE/`.
    """

    items: Sequence[Item]
    task: Callable[[Item, Order], PairwiseTask | CustomPrompt] = default_task
    presentation_orders: Callable[[Item], Sequence[Order]] = one_order
    aggregate: Callable[[Item, Sequence[Vote]], AggregatedVerdict] = aggregate_votes
    texts: Mapping[str, str] = field(default_factory=dict)
    metrics: Callable[[Sequence[ItemResult]], dict[str, Any]] = lambda results: {}
    baselines: Callable[[Sequence[Item]], Mapping[str, Sequence[ItemResult]]] = lambda items: {}
    labels: Mapping[str, ReasoningPair] = field(default_factory=dict)
    limits: TokenLimits = field(default_factory=TokenLimits)
    counts: Callable[[Any], bool] = lambda gold: True
    tables: Callable[[Sequence[ItemResult]], Tables] = lambda results: {}
    joint_tables: Callable[[Mapping[str, Sequence[ItemResult]]], Tables] = lambda panels: {}
    pins: Pins = field(default_factory=dict)
    rates_texts: bool = False
    notes: Sequence[str] = ()
    strata: Sequence[Hashable] = ()
    published: Callable[[Sequence[ItemResult]], Mapping[str, Iterable[Mapping[str, Any]]]] = lambda results: {}

    def requests(self, *, orders: int | None = None, samples: int = 1) -> "Requests":
        """Every request, items in order. `orders` overrides the presentation orders of pairs: 1 for the first order
        alone, 2 for both."""
        from judge_r1.files.arrays.id_table import IdTable  # imported late: it needs NumPy

        places = Places[Order](samples)

        def ids() -> Iterator[str]:
            for item in self.items:
                if self.aggregate is aggregate_votes:
                    check_gold(item)
                own = _orders(self.presentation_orders(item), orders)
                for order in own:
                    self.task(item, order)  # raises now for a broken file, not when the request is read
                places.add(own)
                yield item.item_id

        table = IdTable(ids())
        return Requests(self, table, places, range(len(places)))

    def request(self, item: Item, order: Order, sample: int) -> JudgeRequest:
        """The request for an item in one order."""
        return JudgeRequest(item, order, sample, self.task(item, order))


class Requests(LazySequence[int, JudgeRequest]):
    """Requests by their position among all requests of a run. A request with its texts is made when it is read."""

    def __init__(
        self, benchmark: LoadedBenchmark, ids: "IdTable", places: Places[Order], positions: Sequence[int]
    ) -> None:
        def make(position: int) -> JudgeRequest:
            item, order, sample = places[position]
            return benchmark.request(benchmark.items[item], order, sample)

        super().__init__(positions, make)
        self._benchmark, self.ids, self._places = benchmark, ids, places

    def counts(self) -> Sequence[int]:
        """The number of requests for each item of the benchmark, in a run of all requests."""
        return self._places.counts()

    def position(self, key: RequestKey) -> int | None:
        """The position of a request among all requests; None for one that is not asked for."""
        item_id, order, sample = key
        return None if (item := self.ids.get(item_id)) is None else self._places.find(item, order, sample)

    def keep(self, positions: Sequence[int]) -> "Requests":
        """The requests at these positions."""
        return Requests(self._benchmark, self.ids, self._places, positions)


@dataclass(frozen=True)
class GenerationTask:
    """An instruction that a model answers for a benchmark of generated texts. Its response is a line of `file`."""

    file: str
    id: str
    instruction: str


@dataclass(frozen=True)
class Benchmark:
    """A registered benchmark; `load(path, subset)` reads it.

    `judge-r1 benchmarks` prints `about`, `path` (the files needed) and `subsets`. `verified` is true if the reader was
    tested on the real files, and false if it follows their public description. `predictions(path, file, subset)` scores
    outputs in the benchmark's published format, one result per item, without a judge. `predicted(path, files, subset)`
    reads the items of output files that hold their own texts; without it, `load` does. `generation_tasks(path, subset)`
    gives the instructions for `judge-r1 generate`. `shipped` are the files of a benchmark that is in the package."""

    about: str
    path: str
    load: Callable[[Path, str | None], LoadedBenchmark]
    verified: bool | None = None
    predictions: Callable[[Path, Path, str | None], Sequence[ItemResult]] | None = None
    predicted: Callable[[Path, Sequence[Path], str | None], LoadedBenchmark] | None = None
    subsets: str = ""
    generation_tasks: Callable[[Path, str | None], Sequence[GenerationTask]] | None = None
    shipped: Path | None = None


BENCHMARKS: Registry[Benchmark] = Registry("benchmark", "judge_r1.benchmarks")


def files_of(benchmark: str, path: Path | None) -> Path:
    """The files of a benchmark: `path`, or those that are in the package. Raises BadBenchmark if it has neither."""
    entry = BENCHMARKS.get(benchmark)
    if (found := path or entry.shipped) is None:
        raise BadBenchmark(f"the files of benchmark {benchmark} are not in the package: give --path ({entry.path})")
    return found


def place_by_hash(item_id: str, better: str, worse: str) -> tuple[tuple[str, str], str]:
    """(candidates, gold) of a pair in the order given by hash(item_id). The files list the better one first."""
    if int(content_hash(item_id, 0), 16) % 2 == 0:
        return (better, worse), "A"
    return (worse, better), "B"


def _orders(own: Sequence[Order], wanted: int | None) -> Sequence[Order]:
    if wanted is None or any(len(order) != 2 for order in own):
        return own
    # The first order of each pair of candidates, which best-of-n shows several of.
    first = {frozenset(order): order for order in reversed(own)}
    once = [order for order in own if first[frozenset(order)] == order]
    return once if wanted == 1 else [shown for order in once for shown in (order, order[::-1])]
