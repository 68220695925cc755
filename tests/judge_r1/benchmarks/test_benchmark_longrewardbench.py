"""Long-RewardBench and MemoryRewardBench, on small files with the published fields."""

from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import run_baseline, write

from judge_r1.benchmarks import longrewardbench, memoryrewardbench
from judge_r1.core.tabular import BadTable
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.direct import direct_config


def pair(number: int, **more: Any) -> dict[str, Any]:
    row = {"id": number, "question": f"A long text {number}. Who left?", "chosen": "Anna did leave", "rejected": "Ben"}
    return {**row, "candidates": None, "candidates_score": None, **more}


def ranked(number: int, **more: Any) -> dict[str, Any]:
    row = {"candidates": ["one two three", "one", "one two", "one two three four"], "candidates_score": [3, 1, 2, 4.5]}
    return {**pair(number), "chosen": None, "rejected": None, **row, **more}


def long_folder(folder: Path) -> Path:
    write(folder / "Cite.jsonl", [pair(1), pair(2), ranked(3)])
    write(folder / "Summ.jsonl", [ranked(1, candidates_score=[1, 4, 2, 3])])
    return folder


def test_pairs_and_best_of_n(tmp_path: Path) -> None:
    benchmark = longrewardbench.load(long_folder(tmp_path), None)
    assert [item.item_id for item in benchmark.items] == ["Cite/1", "Cite/2", "Cite/3", "Summ/1"]
    assert [len(benchmark.presentation_orders(item)) for item in benchmark.items] == [1, 1, 6, 6]
    assert benchmark.limits.prompt_tokens == 262_144
    assert {item.candidates["AB".index(item.gold)] for item in benchmark.items[:2]} == {"Anna did leave"}
    results = run_baseline("longer", benchmark)
    assert [result.score for result in results] == [1, 1, 1, pytest.approx(2 / 6)]
    assert benchmark.metrics(results) == {"pairs": 1, "best_of_n": 0.5}


def test_a_best_candidate_that_shares_its_place_is_not_found(tmp_path: Path) -> None:
    write(tmp_path / "Cite.jsonl", [ranked(1, candidates=["one two", "one", "six ten"], candidates_score=[3, 1, 2])])
    benchmark = longrewardbench.load(tmp_path, None)
    assert benchmark.metrics(run_baseline("longer", benchmark)) == {"pairs": None, "best_of_n": 0}


@pytest.mark.parametrize("scores", [[1, 2, 3], [1, 1, 1, 1], None, ["a", 1, 2, 3], [1, 2, 3, True], [1, 2, 3, 4, 5]])
def test_wrong_scores_are_reported(tmp_path: Path, scores: Any) -> None:
    write(tmp_path / "Cite.jsonl", [ranked(1, candidates_score=scores)])
    with pytest.raises(BadTable, match="candidates_score"):
        longrewardbench.load(tmp_path, None)


def memory(**more: Any) -> dict[str, Any]:
    row = {"task": "Long-context_Reasoning", "subtask": "Mixed-Drop", "ctx_length": "8k"}
    return {**row, "question": "A long text. Who left?", "chosen": "m1: Anna left. m2: same.", "rejected": "m1", **more}


def test_memory_trajectories(tmp_path: Path) -> None:
    write(tmp_path / "Long-context_Reasoning.jsonl", [memory(), memory(ctx_length="32k", question="Another?")])
    write(tmp_path / "Long-form_Generation.jsonl", [memory(subtask="Parallel")])
    benchmark = memoryrewardbench.load(tmp_path, None)
    assert [item.item_id for item in benchmark.items] == [
        "Long-context_Reasoning/0",
        "Long-context_Reasoning/1",
        "Long-form_Generation/0",
    ]
    assert [len({item.cluster_id for item in benchmark.items}), len(benchmark.requests())] == [2, 3]
    assert [result.score for result in run_baseline("longer", benchmark)] == [1, 1, 1]
    assert len(memoryrewardbench.load(tmp_path, "32k").items) == 1
    assert len(memoryrewardbench.load(tmp_path, "Parallel").items) == 1
    assert len(memoryrewardbench.load(tmp_path, "Long-context_Reasoning").items) == 2
    task = benchmark.task(benchmark.items[0], (0, 1))
    assert isinstance(task, PairwiseTask)
    config = direct_config(JudgeBuild("https://host/v1#model", limits=benchmark.limits))
    assert (config.prompt_tokens, config.budget.response_tokens) == (262_144, 16_384)
