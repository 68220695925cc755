import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from benchmark_factories import accuracy, run_baseline, write

from judge_r1.benchmarks.rewardbench import CHAT_HARD, load, sections

SMALL = {"alpacaeval-easy": 3, "donotanswer": 2, "math-prm": 2, "hep-go": 4, "hep-rust": 4}


def file(path: Path, counts: Mapping[str, int], **more: Any) -> Path:
    rows = []
    for subset, count in counts.items():
        for _ in range(count):
            rows.append(
                {
                    "prompt": f"{subset} {len(rows)}",
                    "chosen": "the better answer",
                    "chosen_model": "x",
                    "rejected": "worse" if subset != "math-prm" else "much longer but worse",
                    "rejected_model": "y",
                    "subset": subset,
                    "id": len(rows),
                    **more,
                }
            )
    return write(path, rows)


def test_math_weighs_as_much_as_all_code_subsets(tmp_path: Path) -> None:
    benchmark = load(file(tmp_path / "filtered.jsonl", CHAT_HARD | SMALL), None)
    results = run_baseline("longer", benchmark)
    assert accuracy(results, "math-prm") == 0
    assert benchmark.metrics(results) == {
        "Chat": 1.0, "Chat Hard": 1.0, "Safety": 1.0, "Reasoning": 0.5, "score": 0.875,
    }  # fmt: skip
    chat = [o for o in results if o.group == "alpacaeval-easy"]
    assert sections(chat) == {"Chat": 1.0, "Chat Hard": None, "Safety": None, "Reasoning": None, "score": None}
    math = [o for o in results if o.group == "math-prm"]
    assert sections(math)["Reasoning"] == 0


def test_chat_hard_of_all_published_judges_is_the_mean_of_their_published_subsets() -> None:
    """Tables 9 and 11 of the RewardBench paper, whose answers are not released: mt-bench-hard is one of the six."""
    published = json.loads(files("judge_r1.benchmarks.published").joinpath("rewardbench.json").read_text())["tables"]
    assert len(published["Chat Hard"]) == 23
    for judge, printed in published["Chat Hard"].items():
        results = [
            SimpleNamespace(group=name, score=published[name][judge]) for name, n in CHAT_HARD.items() for _ in range(n)
        ]
        assert sections(cast(Any, results))["Chat Hard"] == pytest.approx(printed, abs=0.001), judge
