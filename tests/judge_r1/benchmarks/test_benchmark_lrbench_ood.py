from pathlib import Path

import pytest
from benchmark_factories import write
from test_benchmark_judgebench import pair
from test_benchmark_llmbar import write_sets
from test_benchmark_rewardbench import file

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.lrbench_ood import APPLICATIONS, MT_BENCH, REASONING, load
from judge_r1.benchmarks.rewardbench import CHAT_HARD


def test_groups_with_and_without_rewardbench(tmp_path: Path) -> None:
    write_sets(tmp_path / "LLMBar", "Dataset")
    with pytest.raises(BadBenchmark, match="JudgeBench is missing"):
        load(tmp_path, None)
    pairs = [
        pair(1, source="livebench-reasoning", response_model="gpt-4o-2024-05-13"),
        pair(2, source="livebench-math", response_model="gpt-4o-2024-05-13"),
        pair(3, source="livebench-reasoning", response_model="claude-3-5-sonnet-20240620"),
    ]
    write(tmp_path / "JudgeBench" / "data" / "pairs.jsonl", pairs)
    items = load(tmp_path, None).items
    assert [item.item_id for item in items if item.group == REASONING] == ["p1"]
    assert {item.group for item in items} == {REASONING, *APPLICATIONS.values()}
    file(tmp_path / "reward-bench" / "filtered.jsonl", CHAT_HARD)
    groups = [item.group for item in load(tmp_path, None).items]
    assert {item: groups.count(item) for item in groups} == {
        REASONING: 1, MT_BENCH: 37, **dict.fromkeys(APPLICATIONS.values(), 2),
    }  # fmt: skip
    assert len(load(tmp_path, MT_BENCH).items) == 37
