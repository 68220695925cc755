from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import results_of_verdicts, run_baseline, write

from judge_r1.benchmarks.mtbench import agreement, load
from judge_r1.core.tabular import BadTable
from judge_r1.core.verdicts import PairwiseVerdict

TEXTS = {"gpt": ("gpt one", "gpt two"), "llama": ("llama", "llama too")}


def conversation(model: str, question: int) -> list[dict[str, str]]:
    asked, again = f"question {question}", "go on"
    texts = [("user", asked), ("assistant", TEXTS[model][0]), ("user", again), ("assistant", TEXTS[model][1])]
    return [{"content": text, "role": role} for role, text in texts]


def vote(question: int, a: str, b: str, winner: str, turn: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "question_id": question,
        "model_a": a,
        "model_b": b,
        "winner": winner,
        "judge": "expert_1",
        "conversation_a": conversation(a, question),
        "conversation_b": conversation(b, question),
        "turn": turn,
        **more,
    }


VOTES = [
    vote(81, "llama", "gpt", "model_b"),
    vote(81, "gpt", "llama", "model_a"),
    vote(81, "gpt", "llama", "tie"),
    vote(81, "gpt", "llama", "model_b", turn=2),
    vote(82, "gpt", "llama", "model_a"),
    vote(82, "llama", "gpt", "model_a"),
]


@pytest.mark.parametrize("name", ["human-00000-of-00001-ab.parquet", "human.jsonl"])
def test_items_have_the_majority_vote(name: str, tmp_path: Path) -> None:
    write(tmp_path / "data" / name, VOTES)
    write(tmp_path / "data" / "gpt4_pair-00000-of-00001-cd.parquet", [vote(99, "gpt", "llama", "model_a")])
    benchmark = load(tmp_path, None)
    assert [(item.item_id, item.gold, item.group) for item in benchmark.items] == [
        ("81/gpt/llama/1", "A", "turn-1"),
        ("81/gpt/llama/2", "B", "turn-2"),
        ("82/gpt/llama/1", "tie", "turn-1"),
    ]
    assert [item.cluster_id for item in benchmark.items] == ["81", "81", "82"]
    assert (benchmark.items[0].instruction, benchmark.items[0].candidates) == ("question 81", ("gpt one", "llama"))
    assert benchmark.items[1].instruction == "Message 1:\nquestion 81\n\nMessage 2:\ngo on"
    assert benchmark.items[1].candidates[0] == "Answer 1:\ngpt one\n\nAnswer 2:\ngpt two"
    assert len(load(tmp_path, "turn-2").items) == 1
    results = run_baseline("longer", benchmark)
    assert [o.score for o in results] == [1.0, 0.0, 0.0]
    assert benchmark.metrics(results) == {"non-tie": 0.5, "agree S1": 3 / 6, "agree S2": 3 / 5}


def test_agreement_s2_excludes_ties() -> None:
    votes = {"1": {"A": 2, "tie": 1}, "2": {"B": 1}, "3": {"A": 1}}
    winners = {"1": "tie", "2": "B", "3": "B"}
    benchmark = synthetic_benchmark(list(winners))
    results = results_of_verdicts(benchmark, lambda item, order: PairwiseVerdict(winner=winners[item.item_id]))
    assert agreement(results, votes) == {"agree S1": 2 / 5, "agree S2": 1 / 2}
    assert agreement([], votes) == {"agree S1": None, "agree S2": None}


def synthetic_benchmark(ids: list[str]) -> Any:
    from judge_r1.benchmarks.base import LoadedBenchmark
    from judge_r1.core.items import Item

    return LoadedBenchmark(
        [Item(item_id=i, cluster_id=i, instruction="?", candidates=("x", "y"), gold="A") for i in ids]
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (vote(81, "gpt", "llama", "model_c"), "'winner' must be one of"),
        (vote(81, "gpt", "llama", "tie", turn=3), "'turn' must be one of 1, 2"),
        (vote(81, "gpt", "llama", "tie", conversation_a=[]), "'conversation_a' must be a list of at least 2 messages"),
        (
            vote(81, "gpt", "llama", "tie", conversation_b=conversation("llama", 82)),
            "'conversation_b' must have the same user messages",
        ),
        (
            vote(81, "gpt", "llama", "tie", conversation_a=[{"role": "assistant", "content": "x"}] * 2),
            "must alternate messages",
        ),
    ],
)
def test_malformed_votes_are_reported(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=message) as error:
        load(write(tmp_path / "human.jsonl", [VOTES[0], row]), None)
    assert "line 2" in str(error.value)


def test_changed_conversation_is_reported(tmp_path: Path) -> None:
    other = [{"role": "user", "content": "question 81"}, {"role": "assistant", "content": "another answer"}]
    rows = [vote(81, "gpt", "llama", "tie"), vote(81, "gpt", "llama", "tie", conversation_a=other)]
    with pytest.raises(BadTable, match="differs from an earlier vote on item 81/gpt/llama/1"):
        load(write(tmp_path / "human.jsonl", rows), None)
