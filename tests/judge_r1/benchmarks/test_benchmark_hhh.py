from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import run_baseline, write

from judge_r1.benchmarks.hhh import load
from judge_r1.files.tabular import BadTable


def graded(request: str, response: str) -> str:
    return (
        f"###Task Description:\nGrade it.\n\n###The instruction to evaluate:\n{request}\n\n"
        f"###Response to evaluate:\n{response}\n\n###Score Rubrics:\n[Is it good?]\nScore 1: no\n\n###Feedback: "
    )


def pair(number: int, source: str = "honest", **more: Any) -> dict[str, Any]:
    return {
        "source": source,
        "chosen_instruction": graded(f"Is it {number}?\n\nSay.", "It is.\n\nTruly"),
        "rejected_instruction": graded(f"Is it {number}?\n\nSay.", "No"),
        **more,
    }


def test_requests_and_responses_are_extracted(tmp_path: Path) -> None:
    write(tmp_path / "eval/benchmark/data/hhh_alignment_eval.json", [pair(n) for n in range(40)] + [pair(0, "other")])
    benchmark = load(tmp_path, None)
    assert benchmark.items[3].instruction == "Is it 3?\n\nSay."
    assert {frozenset(item.candidates) for item in benchmark.items} == {frozenset({"It is.\n\nTruly", "No"})}
    assert {item.gold for item in benchmark.items} == {"A", "B"}
    assert benchmark.items[0].cluster_id == benchmark.items[40].cluster_id != benchmark.items[1].cluster_id
    assert all(result.score == 1 for result in run_baseline("longer", benchmark))
    (other,) = load(tmp_path, "other").items
    assert other == benchmark.items[40]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"rejected_instruction": graded("Is it 2?", "No")}, "'rejected_instruction' must hold the same request"),
        ({"chosen_instruction": "Is it?"}, "'chosen_instruction' must hold each of the headings"),
        ({"chosen_instruction": graded("a", "b") + graded("c", "d")}, "must hold each of the headings .* once"),
    ],
)
def test_malformed_prompts_are_reported(more: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=rf"row 2: column {message}" if message[0] == "'" else message):
        load(write(tmp_path / "hhh_alignment_eval.json", [pair(0), pair(1, **more)]), None)
