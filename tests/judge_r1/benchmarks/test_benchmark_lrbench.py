from pathlib import Path

import pytest
from factories import mini_pairs

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.lrbench import load
from judge_r1.core.jsonl import write_jsonl


@pytest.mark.parametrize("subset", ["", "law"])
def test_unknown_domains_are_rejected(tmp_path: Path, subset: str) -> None:
    data = mini_pairs(6)
    write_jsonl(tmp_path / "cases.jsonl", data.cases.values())
    write_jsonl(tmp_path / "pairs.jsonl", data.pairs)
    domain = data.pairs[0].domain
    assert load(tmp_path, domain).items == [item for item in load(tmp_path, None).items if item.group == domain]
    with pytest.raises(BadBenchmark, match=f"no pairs of domain '{subset}'; available: "):
        load(tmp_path, subset)
