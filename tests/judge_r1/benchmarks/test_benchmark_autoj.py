from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import results_of_verdicts, write
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.benchmarks.autoj import load
from judge_r1.core.tabular import BadTable
from judge_r1.core.verdicts import PairwiseVerdict


def pair(label: int, scenario: str = "seeking_advice", prompt: str = "What now?") -> dict[str, Any]:
    return {"scenario": scenario, "label": label, "prompt": prompt, "response 1": "Run", "response 2": "Stay here"}


def test_items_and_clusters(tmp_path: Path) -> None:
    write(tmp_path / "data/test/testdata_pairwise.jsonl", [pair(0), pair(1, "coding/python"), pair(2, prompt="And?")])
    benchmark = load(tmp_path, None)
    assert [item.gold for item in benchmark.items] == ["A", "B", "tie"]
    assert [item.item_id for item in load(tmp_path, "coding/python").items] == ["coding/python/1"]
    assert benchmark.items[0].cluster_id == benchmark.items[1].cluster_id != benchmark.items[2].cluster_id
    with pytest.raises(BadTable, match="'label' must be one of 0, 1, 2, not '3'"):
        load(write(tmp_path / "t.jsonl", [pair(3)]), None)


LABELS = st.sampled_from([0, 1, 2])


@given(st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=1, max_size=8))
def test_both_orders_must_give_the_label(
    tmp_path_factory: pytest.TempPathFactory, labels: list[tuple[int, int, int]]
) -> None:
    """The repository flips the answer of the swapped order and counts pairs with the label in both."""
    words = {0: "A", 1: "B", 2: "tie"}
    file = tmp_path_factory.getbasetemp() / "testdata_pairwise.jsonl"
    benchmark = load(write(file, [pair(label) for label, _, _ in labels]), None)
    answers_of = {item.item_id: answers for item, (_, *answers) in zip(benchmark.items, labels, strict=True)}
    results = results_of_verdicts(
        benchmark, lambda item, order: PairwiseVerdict(winner=words[answers_of[item.item_id][order[0]]])
    )
    back = {0: 1, 1: 0, 2: 2}
    assert [o.score for o in results] == [float(label == one == back[other]) for label, one, other in labels]
    ties = [o.score for o in results if o.gold != "tie"]
    assert benchmark.metrics(results)["non-tie"] == (sum(ties) / len(ties) if ties else None)
