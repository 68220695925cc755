"""The judge of several calls in `examples/`, one file that registers itself."""

import json
import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_llm_server import FakeLLMServer
from paths import REPO

from judge_r1.benchmarks.base import LoadedBenchmark, both_orders
from judge_r1.core.items import Item
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel

runpy.run_path(str(REPO / "examples" / "notes.py"))  # registers itself


def answer(system: str, user: str, sample: int) -> str:
    """A model whose score depends on its own notes: one point for each word that it noted last."""
    candidate = user.partition("Candidate: ")[2]
    if "Score" not in system:
        return f"It has the words {candidate}"
    noted = system.rpartition("It has the words ")[2].partition("\n")[0]
    return f"Score: {len(noted.split())}" if "silent" not in noted else "I cannot say."


def item(item_id: str, gold: Any, *candidates: str) -> Item:
    return Item(item_id=item_id, cluster_id=item_id, instruction="Rate it.", candidates=candidates, gold=gold)


def evaluate(items: Sequence[Item], out: Path, **options: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The summary's only row and the lines of the results file."""
    with FakeLLMServer(answer) as server:
        evaluation = Evaluation(LoadedBenchmark(items, **options), out, resume=False, name="notes")
        evaluation.run(lambda: make_panel(f"judge=notes@{server.url}/v1#model", JudgeBuild("")))
        assert sum(server.calls.values()) or server.served
    evaluation.finish([])
    (row,) = json.loads((out / "summary.json").read_text())["rows"]
    return row, [json.loads(line) for line in (out / "outcomes.jsonl").read_text().splitlines()]


def test_scores_of_single_answers_are_compared_with_expert_scores(tmp_path: Path) -> None:
    items = [item("1", [3], "one two three"), item("2", [5], "one two"), item("3", [1], "silent")]
    row, results = evaluate(items, tmp_path, presentation_orders=lambda item: [(0,)])
    assert (row["n"], row["accuracy"], row["valid_rate"]) == (3, pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert [result["verdict"] for result in results] == [
        {"kind": "scores", "scores": [3.0]},
        {"kind": "scores", "scores": [2.0]},
        {"kind": "invalid", "reason": "no_score"},
    ]
    lines = map(json.loads, (tmp_path / "votes.jsonl").read_text().splitlines())
    votes = sorted(lines, key=lambda vote: vote["item_id"])  # as they were answered
    assert votes[0]["trajectory"]["judgment"]["verdict"] == {"kind": "scores", "scores": [3.0]}
    assert "one two three" in votes[0]["trajectory"]["judgment"]["explanation"]


def test_scores_decide_pairs_in_both_orders(tmp_path: Path) -> None:
    items = [item("1", "A", "one two three", "one"), item("2", "B", "one two", "one"), item("3", "tie", "one", "two")]
    row, results = evaluate(items, tmp_path, presentation_orders=both_orders)
    assert (row["n"], row["accuracy"], row["valid_rate"]) == (3, pytest.approx(2 / 3), 1.0)
    verdicts = [result["verdict"] for result in results]
    assert verdicts == [PairwiseVerdict(winner=winner).model_dump() for winner in ("A", "A", "tie")]
    votes = [json.loads(line) for line in (tmp_path / "votes.jsonl").read_text().splitlines()]
    assert len(votes) == 6
    assert all(len(stored["trajectory"]["turns"]) == 4 for stored in votes)
