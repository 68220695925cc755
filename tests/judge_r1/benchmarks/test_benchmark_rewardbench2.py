from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import accuracy, results_of_verdicts, run_baseline, write

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.rewardbench2 import SUBSETS, TIES, load
from judge_r1.core.items import Item
from judge_r1.core.verdicts import PairwiseVerdict, ScoresVerdict, Verdict
from judge_r1.files.tabular import BadTable
from judge_r1.judges.base import BadJudge
from judge_r1.judges.request import CustomPrompt

BEST = SUBSETS[:-1]


def row(name: str, subset: str, chosen: Sequence[str], rejected: Sequence[str], **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "prompt": f"prompt of {name}",
        "chosen": list(chosen),
        "rejected": list(rejected),
        "num_correct": len(chosen),
        "num_incorrect": len(rejected),
        "total_completions": len(chosen) + len(rejected),
        "models": ["m"] * (len(chosen) + len(rejected)),
        "subset": subset,
        "additional_metadata": {"category": "x"},
        **more,
    }


def whole(folder: Path) -> Path:
    rows = [row(f"{n}", subset, ["the best of four"], ["a", "b b", "c c c"]) for subset in BEST for n in range(8)]
    for n in range(2):
        rows.append(row(f"ref:{n}", TIES, ["red"], ["dog", "cat"], prompt=f"name the colour {n}"))
        rows.append(row(f"tied:{n}", TIES, ["red", "blue"], ["dog", "cat"], prompt=f"name a colour {n}"))
    write(folder / "data" / "test-00000-of-00001.parquet", rows)
    return folder


def test_best_of_four_is_three_pairs(tmp_path: Path) -> None:
    benchmark = load(whole(tmp_path), "Math")
    assert {item.candidates[item.gold] for item in benchmark.items} == {"the best of four"}
    assert len({item.gold for item in benchmark.items}) > 1
    for item in benchmark.items:
        orders = [request.order for request in benchmark.requests() if request.item == item]
        assert sorted(map(sorted, orders)) == sorted(sorted((item.gold, r)) for r in range(4) if r != item.gold)
    first = [request.order[0] == request.item.gold for request in benchmark.requests()]
    assert 0 < sum(first) < len(first)
    assert accuracy(run_baseline("longer", benchmark)) == 1
    assert accuracy(run_baseline("always-a", benchmark)) < 0.6
    assert len(benchmark.requests(orders=2)) == 2 * len(benchmark.requests())


def test_ties_are_rated_separately(tmp_path: Path) -> None:
    benchmark = load(whole(tmp_path), TIES)
    assert [item.cluster_id for item in benchmark.items] == ["Ties/0", "Ties/0", "Ties/1", "Ties/1"]
    requests = [request for request in benchmark.requests() if request.item.item_id == "Ties/tied:0"]
    assert [request.order for request in requests] == [(0,), (1,), (2,), (3,)]
    assert isinstance(requests[2].task, CustomPrompt)
    shown = requests[2].task.prompt.chat()[1]["content"]
    assert "name a colour 0" in shown
    assert "dog" in shown
    assert "blue" not in shown
    with pytest.raises(BadJudge, match=r"a prompt of its own: take a direct@MODEL judge.* --subset"):
        run_baseline("longer", benchmark)


def test_score_is_the_mean_of_six_subsets(tmp_path: Path) -> None:
    benchmark = load(whole(tmp_path), None)

    def verdict(item: Item, order: tuple[int, ...]) -> Verdict:
        if item.group == TIES:
            return ScoresVerdict(scores=(9.0 if order[0] < item.gold else 2.0,))
        right = item.group != "Focus"
        return PairwiseVerdict(winner="A" if (order[0] == item.gold) == right else "B")

    results = results_of_verdicts(benchmark, verdict)
    assert accuracy(results, TIES) == 1
    assert benchmark.metrics(results) == {"ties": pytest.approx(1.01), "score": pytest.approx((4 + 1.01) / 6)}
    assert benchmark.metrics([o for o in results if o.group != "Focus"])["score"] is None
    assert benchmark.metrics([o for o in results if o.group != TIES]) == {"ties": None, "score": None}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (row("1", "Math", ["x"], ["y"]), "'chosen' must hold one answer and 'rejected' three, not 1 and 1"),
        (row("1", "Math", ["x"], ["y"] * 3, num_correct=2), "must hold num_correct and num_incorrect answers"),
        (row("1", "Style", ["x"], ["y"] * 3), "'subset' must be one of Factuality"),
        (row("7", TIES, ["x"], ["y"]), "'id' of Ties must be ref:N"),
        (row("tied:7", TIES, ["x"], ["y"]), "'id' of Ties must be ref:N"),
        (row("ref:7", TIES, ["x"], []), "'id' of Ties must be ref:N"),
    ],
)
def test_malformed_rows_are_reported(bad: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=message) as error:
        load(write(tmp_path / "test.jsonl", [bad]), None)
    assert "line 1" in str(error.value)
    with pytest.raises(BadBenchmark, match="no subset 'Tie'; did you mean 'Ties'"):
        load(tmp_path / "test.jsonl", "Tie")
