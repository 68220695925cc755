"""A benchmark of conversations needs one new file that registers itself."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark, both_orders
from judge_r1.benchmarks.pairwise import published_vote
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import AggregatedVerdict, ChatMessage, Conversation, Item, ItemResult, item_result
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.published_outputs import score_predictions
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel

NAME = "test-conversations"


def conversation(*replies: str) -> Conversation:
    """Alternating user and assistant messages; the user's questions are the same in each conversation."""
    messages: list[ChatMessage] = []
    for number, reply in enumerate(replies, 1):
        messages.append(ChatMessage(role="user", content=f"Question {number}?"))
        messages.append(ChatMessage(role="assistant", content=reply))
    return tuple(messages)


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    lines = [json.loads(line) for line in (path / "conversations.jsonl").read_text().splitlines()]
    items = [
        Item(
            item_id=line["id"],
            cluster_id=line["topic"],
            group=line["topic"],
            instruction="Which conversation helps the user more?",
            candidates=tuple(conversation(*replies) for replies in line["replies"].values()),
            systems=tuple(line["replies"]),
            gold=line["better"],
        )
        for line in lines
        if subset in (None, line["topic"])
    ]
    return LoadedBenchmark(items, presentation_orders=both_orders)


BENCHMARKS.register(NAME)(
    Benchmark("conversations of two systems, both orders", "a folder with conversations.jsonl", load)
)


def test_a_gold_that_the_default_rule_cannot_score_is_refused_before_the_first_request() -> None:
    item = Item(item_id="7", cluster_id="7", instruction="Which?", candidates=("x", "y"), gold="C")
    with pytest.raises(JudgeError, match="item 7: the gold is 'C', but it must be A, B or tie"):
        LoadedBenchmark([item]).requests()
    for gold in ("A", "tie", 1, (0.5, 1.0)):
        assert len(LoadedBenchmark([item.model_copy(update={"gold": gold})]).requests()) == 1


def test_evaluate_a_judge_on_conversations(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "topic": "tax", "better": "A", "replies": {"x": ["A long useful reply.", "More."], "y": ["No."]}},
        {"id": "2", "topic": "tax", "better": "B", "replies": {"y": ["No."], "x": ["Another long reply to it."]}},
        {"id": "3", "topic": "law", "better": "B", "replies": {"x": ["A reply with many words."], "y": ["Yes."]}},
    ]
    (tmp_path / "conversations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    benchmark = BENCHMARKS.get(NAME).load(tmp_path, None)
    assert benchmark.items[0].systems == ("x", "y")
    task = benchmark.requests()[0].task
    assert "User: Question 1?\n\nAssistant: A long useful reply.\n\nUser: Question 2?" in task.reasoning_a

    out = tmp_path / "out"
    evaluation = Evaluation(benchmark, out, resume=False, name=NAME)
    evaluation.run(lambda: make_panel("longer", JudgeBuild("")))
    summary = evaluation.finish([])
    (row,) = json.loads((out / "summary.json").read_text())["rows"]
    assert summary["benchmark"] == NAME
    assert (row["name"], row["n"], row["accuracy"], row["valid_rate"]) == ("longer", 3, 2 / 3, 1.0)
    assert {group: part["accuracy"] for group, part in row["by_domain"].items()} == {"tax": 1.0, "law": 0.0}
    results = [json.loads(line) for line in (out / "outcomes.jsonl").read_text().splitlines()]
    assert [result["verdict"]["winner"] for result in results] == ["A", "B", "A"]
    assert f"Judges on {NAME}" in (out / "report.html").read_text()


def test_custom_subset(tmp_path: Path) -> None:
    row = {"id": "1", "topic": "tax", "better": "A", "replies": {"x": ["Yes."], "y": ["No."]}}
    lines = [row, row | {"id": "2", "topic": "law"}]
    (tmp_path / "conversations.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [item.item_id for item in BENCHMARKS.get(NAME).load(tmp_path, "law").items] == ["2"]


def test_baselines_cover_the_items_of_the_predictions(tmp_path: Path) -> None:
    rows = [{"id": str(n), "topic": "tax", "better": "A", "replies": {"x": ["Yes."], "y": ["No."]}} for n in range(3)]
    (tmp_path / "conversations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def results(items: Sequence[Item]) -> list[ItemResult]:
        vote = published_vote((0, 1), 0)
        return [item_result("b", item, [vote], AggregatedVerdict(verdict=vote.verdict, score=1.0)) for item in items]

    def load_with_baseline(path: Path, subset: str | None) -> LoadedBenchmark:
        return replace(load(path, subset), baselines=lambda items: {"majority": results(items)})

    name = f"{NAME}-with-predictions"
    BENCHMARKS.register(name)(
        Benchmark(
            "the first item has a published output",
            "a folder",
            load_with_baseline,
            predictions=lambda path, file, subset: results(load(path, subset).items[:1]),
        )
    )
    summary = score_predictions(name, tmp_path, [tmp_path / "judge.json"], None)
    assert [(row["name"], row["n"]) for row in summary["rows"]] == [("judge", 1), ("majority", 1)]
