from pathlib import Path

import pytest
from factories import make_case, make_pair, mini_pairs

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.lrbench import load, pair_benchmark
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import PairSet


@pytest.mark.parametrize("subset", ["", "law"])
def test_unknown_domains_are_rejected(tmp_path: Path, subset: str) -> None:
    data = mini_pairs(6)
    write_jsonl(tmp_path / "cases.jsonl", data.cases.values())
    write_jsonl(tmp_path / "pairs.jsonl", data.pairs)
    domain = data.pairs[0].domain
    assert load(tmp_path, domain).items == [item for item in load(tmp_path, None).items if item.group == domain]
    with pytest.raises(BadBenchmark, match=f"no pairs of domain '{subset}'; available: "):
        load(tmp_path, subset)


def test_cases_of_one_paper_are_one_cluster() -> None:
    papers = [make_case(f"ana paid {n}.", meta=meta) for n, meta in enumerate([{"group": "7"}, {"group": "7"}, None])]
    items = pair_benchmark(PairSet.of(papers, [make_pair(case) for case in papers])).items
    assert [item.cluster_id for item in items] == ["legal/7", "legal/7", papers[2].case_id]
    assert [item.case_id for item in items] == [case.case_id for case in papers]
