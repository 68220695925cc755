"""The results of an evaluation: one `ItemResult` per item and panel, computed from its stored votes."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, overload

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.errors import write_error
from judge_r1.core.folders import lacks, name_below
from judge_r1.core.items import Item, ItemResult, item_result
from judge_r1.core.text_check import counted
from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.label_results import label_result, searches_own_case
from judge_r1.evaluation.votes import EvaluationError, StoredVote
from judge_r1.files.arrays.positions import LineIndex
from judge_r1.files.evaluation_files import OUTCOMES, SUMMARY, check_outcomes
from judge_r1.files.jsonl import dump_line, read_jsonl

if TYPE_CHECKING:
    from judge_r1.evaluation.votes import StoredVote

IN_MEMORY = 5_000
"""Results of a panel that may be in memory together. Of more, `StoredResults` reads each one when it is used."""


Replies = dict[str, dict[str, int]]
"""What replies say: name -> value -> number of replies."""


class PanelUsage:
    """The usage of the votes of a panel. Of members, whose models differ, the names are kept apart."""

    def __init__(self) -> None:
        self._total: dict[str, float] = {}
        self._models: dict[int, set[str]] = {}
        self._cut: set[str] = set()

    def add(self, stored: "StoredVote") -> None:
        add_usage(self._total, stored.usage)
        usage = stored.usage or {}
        self._models.setdefault(stored.member, set()).update(split_usage(usage)[1].get("model", ()))
        if usage.get("cut_prompts"):
            self._cut.add(stored.item_id)

    @property
    def counts(self) -> dict[str, float]:
        """Calls, tokens and seconds; empty if no vote was paid for."""
        return {name: round(value, 3) for name, value in split_usage(self._total)[0].items()}

    @property
    def replies(self) -> Replies:
        return split_usage(self._total)[1]

    @property
    def cut_items(self) -> int:
        """The number of items with a prompt that the server cut."""
        return len(self._cut)

    def warnings(self) -> list[str]:
        """What makes the results of a panel doubtful, one sentence each."""
        found = [
            f"replies name {len(names)} models ({', '.join(sorted(names))}): the server changed its model during the "
            "run, so the results are not those of one judge"
            for names in self._models.values()
            if len(names) > 1
        ]
        if self._cut:
            found.append(
                f"the server cut the prompts of {counted(self.cut_items, 'item')}, so the judge did not read all of "
                "them: give the server a longer context, and evaluate again in another folder"
            )
        return found


def total_usage(usages: Iterable[Mapping[str, float] | None]) -> dict[str, float]:
    """The sum of endpoint usage by name; empty if there is none."""
    total: dict[str, float] = {}
    for usage in usages:
        add_usage(total, usage)
    return total


def add_usage(total: dict[str, float], usage: Mapping[str, float] | None) -> None:
    for name, value in (usage or {}).items():
        total[name] = total.get(name, 0) + value


def split_usage(usage: Mapping[str, float]) -> tuple[dict[str, float], Replies]:
    """The counts, and what the replies say: names of the form NAME=VALUE."""
    counts: dict[str, float] = {}
    replies: Replies = {}
    for key, number in usage.items():
        name, equals, value = key.partition("=")
        if not equals:
            counts[name] = number
        elif number:
            replies.setdefault(name, {})[value] = int(number)
    return counts, replies


def describe_usage(usage: Mapping[str, float]) -> str:
    """The calls and tokens in words; empty if no call was answered."""
    if not usage.get("calls"):
        return ""
    return (
        f"{counted(int(usage['calls']), 'call')}, {int(usage.get('input_tokens', 0)):,} tokens read and "
        f"{int(usage.get('output_tokens', 0)):,} written"
    )


class StoredResults(Sequence[ItemResult]):
    """Results in the order of their items, each in memory only while it is used: as lines of a temporary file in
    `folder`, which leaves nothing behind when the process ends in whatever way."""

    def __init__(self, folder: Path, items: Sequence[Item]) -> None:
        self._items, self._folder = items, folder
        self._lines, self._end, self._count = LineIndex(len(items)), 0, 0
        self._present: array[int] | None = None
        self._file: IO[bytes] | None = None

    def add(self, index: int, result: ItemResult) -> None:
        """Stores the result of the item at `index`."""
        line = dump_line(result).encode()
        try:
            if self._file is None:
                self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115 (it is closed with the results)
            self._file.seek(self._end)
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            outcome = "the finished votes are kept for a run with --resume"
            raise write_error(self._folder / OUTCOMES, error, outcome) from error
        # After the write: a result that failed on a full disk is none.
        self._lines.add(index, self._end)
        self._end, self._count, self._present = self._end + len(line), self._count + 1, None

    def lines(self) -> Iterator[str]:
        """The results as lines of `outcomes.jsonl`."""
        return map(self._line, self._lines.present())

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> ItemResult: ...

    @overload
    def __getitem__(self, index: slice) -> list[ItemResult]: ...

    def __getitem__(self, index: int | slice) -> ItemResult | list[ItemResult]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        if self._present is None:
            self._present = array("i", self._lines.present())
        return self._read(self._present[index])

    def _read(self, index: int) -> ItemResult:
        result = ItemResult.model_validate_json(self._line(index))
        if isinstance(result.gold, list | dict):  # JSON knows no tuples and no keys but strings
            return result.model_copy(update={"gold": self._items[index].gold})
        return result

    def _line(self, index: int) -> str:
        assert self._file is not None, "a result was added"
        self._file.seek(self._lines[index][-1])
        return self._file.readline().decode()


def outcome_lines(results: Sequence[ItemResult]) -> Iterator[str]:
    """The results as lines of `outcomes.jsonl`."""
    return results.lines() if isinstance(results, StoredResults) else map(dump_line, results)


class PanelResults:
    """The results of one panel on a benchmark: one result per item, in the benchmark's order, and the endpoint usage.

    `votes` gives the votes of an item by its id. It may read them from disk at every access, so that the
    trajectories of a long evaluation are not in memory together.
    """

    def __init__(
        self,
        panel: str,
        benchmark: LoadedBenchmark,
        votes: Mapping[str, Sequence[StoredVote]],
        items: Sequence[ItemResult],
        usage: PanelUsage | None = None,
    ) -> None:
        self.panel, self.benchmark, self.votes = panel, benchmark, votes
        self.items, self.usage = items, usage or PanelUsage()

    @classmethod
    def of(
        cls,
        panel: str,
        benchmark: LoadedBenchmark,
        votes: Mapping[str, Sequence[StoredVote]],
        settings: Mapping[str, Any] | None = None,
    ) -> "PanelResults":
        """Computes the results in one pass over the votes. `settings` are the panel's in rows.json."""
        items, usage = [], PanelUsage()
        for item in benchmark.items:
            found = votes[item.item_id]
            items.append(result_of(panel, benchmark, item, found, settings))
            for stored in found:
                usage.add(stored)
        return cls(panel, benchmark, votes, items, usage)


def result_of(
    panel: str,
    benchmark: LoadedBenchmark,
    item: Item,
    votes: Sequence[StoredVote],
    settings: Mapping[str, Any] | None = None,
) -> ItemResult:
    """The result of an item from all of its votes, in any order."""
    ordered = sorted(votes, key=lambda stored: stored.place)
    cast = [stored.vote for stored in ordered]
    aggregated = benchmark.aggregate(item, cast)
    labels = None
    if (pair := benchmark.labels.get(item.item_id)) is not None:
        shown = [(stored.order, stored.trajectory) for stored in ordered]
        isolated = searches_own_case(settings or {})
        labels = label_result(panel, pair, shown, aggregated.verdict, isolated=isolated)
    return item_result(panel, item, cast, aggregated, labels)


def read_outcomes(out: Path) -> dict[str, list[ItemResult]]:
    """Reads `out/outcomes.jsonl`, by panel.

    Raises:
        EvaluationError: The folder holds no finished evaluation.
        JudgeError: A file was changed after the evaluation.
    """
    for name in (OUTCOMES, SUMMARY):
        if not (out / name).exists():
            raise EvaluationError(
                f"{lacks(out, name)}: give a folder of a finished `judge-r1 eval`{name_below(out, name)}"
            )
    check_outcomes(out, read_summary(out))
    panels: dict[str, list[ItemResult]] = {}
    for result in read_jsonl(out / OUTCOMES, ItemResult):
        panels.setdefault(result.judge, []).append(result)
    return panels
