"""The memory of an evaluation: results are on disk, and a summary of them is the same as of a list."""

import gc
import json
import tracemalloc
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from evaluation_factories import pair_result, passage, toy_pairs, toy_trajectory

from judge_r1.benchmarks.base import LoadedBenchmark, both_orders
from judge_r1.core import progress
from judge_r1.core.items import Item, ItemResult
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict
from judge_r1.evaluation import runner
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.report import vote_viewer
from judge_r1.evaluation.results import StoredResults
from judge_r1.evaluation.summary import summarize
from judge_r1.files.arrays.positions import LazySequence
from judge_r1.judges.panel import JudgePanel
from scripts.bench.eval_memory import Instant, item

RECORDED = Path(__file__).with_name("recorded_summary.json")
"""The summary of `recorded_panels`, as `judge_r1` of revision 02538a24 gives it from a list of results."""
BYTES_AN_EPISODE = 250


def recorded_panels() -> dict[str, list[ItemResult]]:
    """Two judges of 320 pairs of 40 cases, with every kind of answer: invalid, unanswered and too long ones, ties,
    votes in both orders, partial scores."""
    random, panels = Random(0), {}
    reasons = ("rejected_no_json", "refused", "prompt_too_long", "turn_budget")
    for name in ("one", "two"):
        results = []
        for pair in toy_pairs(40):
            comparison = random.choice(("A>B", "A<B", "A<B", None))
            named = sorted(random.sample(range(1, 7), random.randint(1, 3)))
            shown = [passage(pair)] if random.random() < 0.5 else None
            result = pair_result(name, pair, toy_trajectory(pair, comparison, named, shown=shown))
            (vote,) = result.votes
            votes = [vote]
            if random.random() < 0.3:
                verdict = random.choice((PairwiseVerdict(winner="A"), PairwiseVerdict(winner="tie")))
                votes.append(vote.model_copy(update={"order": (1, 0), "verdict": verdict, "searches": 3}))
            if comparison is None:
                reason = random.choice(reasons)
                votes[0] = vote.model_copy(update={"verdict": InvalidVerdict(reason=reason), "ended": reason})
            score = random.random() if random.random() < 0.2 else result.score
            results.append(result.model_copy(update={"votes": tuple(votes), "score": score}))
        panels[name] = results
    return panels


def summary_of(panels: dict[str, Any]) -> dict[str, Any]:
    names = list(panels)
    settings: dict[str, dict[str, Any]] = {name: {} for name in names}
    return summarize(panels, [(names[1], names[0])], {}, settings, items=320)


def rounded(text: str) -> Any:
    """JSON with floats of 12 digits: the last ones depend on the processor."""
    return json.loads(text, parse_float=lambda number: f"{float(number):.12g}")


def test_the_summary_of_a_recorded_run_stays_the_same() -> None:
    assert rounded(json.dumps(summary_of(recorded_panels()))) == rounded(RECORDED.read_text())


def test_results_on_disk_are_those_in_memory(tmp_path: Path) -> None:
    """In the order of the items, whatever the order in which they come, with any gold; some may be missing."""
    items = [Item(item_id=f"{n}", cluster_id="c", instruction="", candidates=("a",), gold=("a", n)) for n in range(6)]
    template = recorded_panels()["one"][0]
    expected = [template.model_copy(update={"item_id": item.item_id, "gold": item.gold}) for item in items]
    stored = StoredResults(tmp_path, items)
    for index in (3, 0, 5, 1):
        stored.add(index, expected[index])
    wanted = [expected[index] for index in (0, 1, 3, 5)]
    assert list(stored) == wanted
    assert (stored[-1], stored[1:3], len(stored)) == (wanted[-1], wanted[1:3], 4)
    assert [json.loads(line)["item_id"] for line in stored.lines()] == ["0", "1", "3", "5"]
    assert not list(tmp_path.iterdir())
    panels = recorded_panels()
    on_disk: dict[str, StoredResults] = {}
    for name, results in panels.items():
        on_disk[name] = StoredResults(tmp_path, results)  # type: ignore[arg-type] (only the gold is read)
        for index, result in enumerate(results):
            on_disk[name].add(index, result)
    assert summary_of(on_disk) == summary_of(panels)


def peak(items: int, out: Path) -> int:
    """The most bytes in use in an evaluation, its summary and its report, over those before it."""
    benchmark = LoadedBenchmark(LazySequence(range(items), item), presentation_orders=both_orders)
    gc.collect()
    tracemalloc.start()
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()), Evaluation(benchmark, out, resume=False) as run:
            run.run(lambda: JudgePanel("row", (Instant(),)))
            run.finish([])
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_grows_by_few_bytes_an_episode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judging, summary and report of items in both orders. In memory, a result takes 3 KB."""
    monkeypatch.setattr(progress, "AFTER_S", 0.0)  # so that the first run imports what shows it
    monkeypatch.setattr(runner, "IN_MEMORY", 0)
    monkeypatch.setattr(vote_viewer, "ONE_FILE", 0)
    monkeypatch.setattr(vote_viewer, "PART_ITEMS", 50)
    peak(30, tmp_path / "warm")  # imports and caches
    few, many = (peak(items, tmp_path / str(items)) for items in (100, 500))
    assert (many - few) / 2 / 400 < BYTES_AN_EPISODE
